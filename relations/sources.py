"""The papers that several relations come from, cited once."""

from typing import Final

METAMORPHIC: Final = (
    "Khirbat, Ren, Castells, Sanderson: Metamorphic Evaluation of ChatGPT as a Recommender System "
    "(2024), https://arxiv.org/abs/2411.12121"
)
POPULARITY: Final = (
    "Lichtenberg, Buchholz, Schwöbel: Large Language Models as Recommender Systems: A Study of "
    "Popularity Bias (2024), https://arxiv.org/abs/2406.01285"
)
LRWORLD: Final = (
    "Hu: The Mental World of Large Language Models in Recommendation (2025), "
    "https://arxiv.org/abs/2512.17389"
)
ZERO_SHOT_RANKERS: Final = (
    "Hou et al.: Large Language Models are Zero-Shot Rankers for Recommender Systems (2024), "
    "https://arxiv.org/abs/2305.08845"
)
METAL: Final = (
    "Hyun, Guo, Babar: METAL, Metamorphic Testing Framework for Analyzing Large-Language Model "
    "Qualities (2023), https://arxiv.org/abs/2312.06056"
)
CHECKLIST: Final = (
    "Ribeiro et al.: Beyond Accuracy, Behavioral Testing of NLP Models with CheckList (2020), "
    "https://arxiv.org/abs/2005.04118"
)
TEXT_ATTACK: Final = (
    "Zhang et al.: Stealthy Attack on Large Language Model based Recommendation (2024), "
    "https://arxiv.org/abs/2402.14836"
)
MULTIDIMENSIONAL: Final = (
    "Jiang et al.: Beyond Utility, Evaluating LLM as Recommender (2024), "
    "https://arxiv.org/abs/2411.00331"
)
AGGREGATED_DEMONSTRATIONS: Final = (
    "Wang, Lim: The Whole is Better than the Sum, Using Aggregated Demonstrations in In-Context "
    "Learning for Sequential Recommendation (2024), https://arxiv.org/abs/2403.10135"
)
TRAINING: Final = (
    "Mao, Chen, Yi, Wen: An empirical study on metamorphic testing for recommender systems (2024), "
    "https://doi.org/10.1016/j.infsof.2024.107410"
)
CORRECTNESS: Final = (
    "Michiels, Verachtert, Ferraro, Falk, Goethals: A Framework and Toolkit for Testing the Correctness of "
    "Recommendation Algorithms (2024), https://doi.org/10.1145/3591109"
)
SHILLING: Final = (
    "Mobasher, Burke, Bhaumik, Williams: Toward Trustworthy Recommender Systems, An Analysis of Attack "
    "Models and Algorithm Robustness (2007), https://doi.org/10.1145/1278366.1278372"
)
HOUSE: Final = "this project"
