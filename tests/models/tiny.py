"""Models with random weights, small enough to compute in
milliseconds, with a tokenizer of bytes.
"""

from pathlib import Path
from typing import Any

from tests.extras import need


def tokenizer() -> Any:
    """Knows each byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = [*dict.fromkeys(["<pad>", "<s>", "</s>", *alphabet])]
    raw = Tokenizer(models.BPE({name: i for i, name in enumerate(names)}, []))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    make: Any = PreTrainedTokenizerFast
    return make(
        tokenizer_object=raw,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
    )


def save(folder: Path, kind: str = "llama", seed: int = 0, **sizes: Any) -> Path:
    """A model of an architecture, with weights drawn from a seed.

    Args:
        folder: Where it goes.
        kind: As transformers names the architecture.
        seed: Of the weights.
        sizes: Of the configuration, where they differ from the small ones.
    """
    need("transformers", "torch")
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    words = tokenizer()
    config = AutoConfig.for_model(
        kind,
        **{
            "vocab_size": len(words),
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 8,
            "max_position_embeddings": 2048,
            "bos_token_id": words.bos_token_id,
            "eos_token_id": words.eos_token_id,
            "pad_token_id": words.pad_token_id,
            # Of a size at which the answers of random weights are not all alike.
            "initializer_range": 0.5,
            **sizes,
        },
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        make: Any = AutoModelForCausalLM.from_config
        make(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
