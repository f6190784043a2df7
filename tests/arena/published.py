"""What "RecSys Arena" prints: Tables 1, 2 and 4, in their order
(https://arxiv.org/abs/2412.11068).
"""

AUC = {
    "MIND": {"NRMS": 0.5004, "LightGCN": 0.4990, "SASRec": 0.4985, "DeepFM": 0.4956},
    "MovieLens": {
        "NRMS": 0.7521,
        "LightGCN": 0.6824,
        "SASRec": 0.6772,
        "DeepFM": 0.6146,
    },
}
"""By data and recommender, Table 1."""

TABLE_2 = {
    ("GPT-4o", "MovieLens"): {
        "NRMS": (61.1, 14.7, 24.2, 1.9485, 1), "LightGCN": (62.8, 8.4, 28.8, 1.9139, 2),
        "SASRec": (60.3, 10.7, 29.0, 1.7884, 3), "DeepFM": (59.1, 11.4, 29.5, 1.7237, 4),
    },
    ("GPT-4o", "MIND"): {
        "NRMS": (71.9, 11.0, 17.1, 2.9501, 1), "LightGCN": (60.5, 20.9, 18.6, 2.0607, 2),
        "SASRec": (59.9, 19.7, 20.4, 1.985, 3), "DeepFM": (55.0, 15.2, 29.8, 1.56, 4),
    },
    ("DeepSeek-V2.5", "MovieLens"): {
        "NRMS": (64.7, 12.6, 22.7, 2.1898, 1), "LightGCN": (62.2, 9.7, 28.1, 1.9021, 2),
        "SASRec": (61.3, 9.2, 29.5, 1.8217, 3), "DeepFM": (64.7, 12.6, 22.7, 1.7680, 4),
    },
    ("DeepSeek-V2.5", "MIND"): {
        "NRMS": (66.7, 10.3, 23.0, 2.3123, 1), "LightGCN": (62.6, 15.3, 22.1, 2.0828, 2),
        "SASRec": (60.6, 14.9, 24.5, 1.9162, 3), "DeepFM": (58.7, 12.4, 28.9, 1.7215, 4),
    },
    ("Llama3.1-8B", "MovieLens"): {
        "NRMS": (50.8, 28.6, 20.6, 1.6138, 3), "LightGCN": (50.5, 37.9, 11.6, 1.7858, 1),
        "SASRec": (45.0, 31.6, 23.4, 1.3927, 4), "DeepFM": (49.9, 38.7, 11.4, 1.7684, 2),
    },
    ("Llama3.1-8B", "MIND"): {
        "NRMS": (54.8, 27.1, 18.1, 1.8119, 1), "LightGCN": (43.7, 40.7, 15.6, 1.4991, 3),
        "SASRec": (50.3, 35.6, 14.1, 1.7283, 2), "DeepFM": (45.1, 34.9, 20.0, 1.4571, 4),
    },
}  # fmt: skip
"""Won, tied and lost against FM in percent, Q, rank; by
judge and data, then by recommender.
"""

TABLE_3 = {
    ("GPT-4o", "MIND"): (0.9001, 0.0998),
    ("DeepSeek-V2.5", "MIND"): (0.9530, 0.0469),
    ("Llama3.1-8B", "MIND"): (0.7443, 0.2556),
    ("GPT-4o", "MovieLens"): (0.8972, 0.1027),
    ("DeepSeek-V2.5", "MovieLens"): (0.9436, 0.0563),
    ("Llama3.1-8B", "MovieLens"): (-0.2661, 0.7338),
}
"""Pearson correlation of Q and AUC, and its p-value."""

TABLE_4 = {
    ("GPT-4o", "inspiration"): {
        "SASRec": (69.0, 10.8, 20.2, 2.5741, 1), "LightGCN": (60.1, 4.9, 35.0, 1.6290, 2),
        "NRMS": (59.6, 5.6, 34.8, 1.6138, 3), "DeepFM": (57.3, 11.0, 31.7, 1.5995, 4),
    },
    ("DeepSeek-V2.5", "inspiration"): {
        "SASRec": (62.8, 12.7, 24.5, 2.0295, 1), "LightGCN": (58.9, 20.5, 20.6, 1.9318, 2),
        "NRMS": (61.0, 8.3, 30.7, 1.7769, 3), "DeepFM": (56.9, 11.1, 32.0, 1.5777, 4),
    },
}  # fmt: skip

COPIED = ("DeepSeek-V2.5", "MovieLens", "DeepFM")
"""The row whose percentages are those of NRMS, and not its own."""

RELEASED = (599, 110, 291)
"""The counts of that row as the authors released them."""
