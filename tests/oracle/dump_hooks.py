#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The hooks of docs/diagnosis.md store what attention was given.

Every Python block of the page compiles. With PyTorch and safetensors installed the hooks run too: the wrapper around
scaled_dot_product_attention in a small model, the vLLM and SGLang hooks on modules of the same signature, and, with
transformers installed, the registered attention function in a Llama with random weights. What is stored is compared
bit by bit with what attention was given, and `pcast diagnose` reads it.

usage: dump_hooks.py PCAST; exit 77 (skipped) where the blocks could only be compiled.
"""
import ast
import copy
import os
import re
import subprocess
import sys
import tempfile
import types

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/diagnosis.md")
with open(PAGE, encoding="utf-8") as stream:
    BLOCKS = re.findall(r"^```python\n(.*?)^```$", stream.read(), re.S | re.M)
for number, block in enumerate(BLOCKS):
    ast.parse(block, f"block {number} of docs/diagnosis.md")

try:
    import torch
    import torch.nn.functional as F
    from safetensors.torch import load_file
except ImportError as error:
    print(f"{len(BLOCKS)} blocks compile; skipped: Python package {error.name} is missing")
    sys.exit(77)
try:
    import transformers
except ImportError:
    transformers = None

TOKENS, DIM, HEADS, KV = 24, 16, 4, 2


def block_with(text):
    """The one block that holds the text."""
    found = [block for block in BLOCKS if text in block]
    assert len(found) == 1, f"{len(found)} blocks with {text!r}"
    return found[0]


def run_block(text):
    namespace = {"__name__": "block"}
    exec(compile(block_with(text), text, "exec"), namespace)  # the page's own code
    return namespace


def same(layer, q, k, v):
    stored = load_file(f"dump/layer{layer:02d}.safetensors")
    assert sorted(stored) == ["k", "q", "v"]
    for name, x in (("q", q), ("k", k), ("v", v)):
        assert stored[name].dtype == x.dtype and torch.equal(stored[name], x), (layer, name)


def fresh():
    for name in os.listdir("dump"):
        os.remove(f"dump/{name}")


class Attention(torch.nn.Module):
    """A small causal attention layer; it remembers what it computed."""

    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(HEADS * DIM, (HEADS + 2 * KV) * DIM)

    def forward(self, x):
        q, k, v = self.qkv(x).split((HEADS * DIM, KV * DIM, KV * DIM), dim=-1)
        self.seen = [t.unflatten(-1, (-1, DIM)).transpose(1, 2) for t in (q, k, v)]
        o = F.scaled_dot_product_attention(*self.seen, is_causal=True, enable_gqa=True)
        return x + o.transpose(1, 2).flatten(2)


def check_torch():
    dump = run_block("class DumpAttention")["DumpAttention"]
    model = torch.nn.Sequential(Attention(), Attention(), Attention()).to(torch.bfloat16)
    x = torch.randn(1, TOKENS, HEADS * DIM).to(torch.bfloat16)
    original = F.scaled_dot_product_attention
    with torch.no_grad():
        plain = model(x)
        with dump():
            assert torch.equal(model(x), plain)
        with dump():
            model(torch.randn_like(x))  # a second prompt does not replace the first
    model(x)
    assert F.scaled_dot_product_attention is original and len(os.listdir("dump")) == 3
    for layer, module in enumerate(model):
        same(layer, *(t[0] for t in module.seen))


def check_transformers():
    run_block("AttentionInterface.register")
    config = transformers.LlamaConfig(vocab_size=64, hidden_size=HEADS * DIM, intermediate_size=64, num_hidden_layers=3,
                                      num_attention_heads=HEADS, num_key_value_heads=KV)
    ids = torch.arange(TOKENS)[None] % 64
    models = [transformers.AutoModelForCausalLM.from_config(copy.deepcopy(config), attn_implementation=name)
              for name in ("pcast_dump", "sdpa")]
    models[1].load_state_dict(models[0].state_dict())
    with torch.no_grad():
        a, b = (model.eval()(ids).logits for model in models)
    assert torch.equal(a, b), "the registered function changes the model"
    stored = [load_file(f"dump/layer{layer:02d}.safetensors") for layer in range(3)]
    assert [tuple(s[n].shape) for s in stored for n in "qkv"] == [(HEADS, TOKENS, DIM), (KV, TOKENS, DIM),
                                                                  (KV, TOKENS, DIM)] * 3
    # Positions are applied: without them the first layer's Q is the projection itself.
    layer = models[0].model.layers[0]
    with torch.no_grad():
        raw = layer.self_attn.q_proj(layer.input_layernorm(models[0].model.embed_tokens(ids)))
    raw = raw[0].unflatten(-1, (-1, DIM)).transpose(0, 1)
    assert torch.allclose(stored[0]["q"][:, 0], raw[:, 0]) and not torch.allclose(stored[0]["q"][:, 5], raw[:, 5])


def check_engines():
    q, k, v = torch.randn(TOKENS, HEADS * DIM), torch.randn(TOKENS, KV * DIM), torch.randn(TOKENS, KV * DIM)
    expected = [x.unflatten(-1, (-1, DIM)).transpose(0, 1) for x in (q, k, v)]
    vllm = type("Attention", (torch.nn.Module,), {"forward": lambda self, query, key, value, output_shape=None: query})
    model = torch.nn.Sequential(vllm(), vllm(), vllm(), torch.nn.Linear(2, 2))
    for number, module in enumerate(model[:3]):
        module.layer_name, module.num_heads, module.num_kv_heads = f"model.layers.{number}.self_attn.attn", HEADS, KV
    run_block("# dump_vllm.py")["attach"](model)
    model[0](q, k, v)
    model[1](query=q, key=k, value=v)
    model[2](q, None, None)
    model[2](q[:1], k[:1], v[:1])
    assert len(os.listdir("dump")) == 2
    same(0, *expected)
    same(1, *expected)
    fresh()
    sglang = type("RadixAttention", (torch.nn.Module,), {"forward": lambda self, q, k, v, forward_batch, **_: q})()
    sglang.layer_id, sglang.tp_q_head_num, sglang.tp_k_head_num, sglang.tp_v_head_num = 7, HEADS, KV, KV
    hook = run_block("# dump_sglang.py")["hook_factory"]({})
    sglang.register_forward_pre_hook(hook, with_kwargs=True)
    sglang(q, k.view(TOKENS, KV, DIM), v, None, save_kv_cache=True)
    same(7, *expected)


def main():
    pcast = os.path.abspath(sys.argv[1])
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        dump = types.ModuleType("pcast_dump")
        exec(compile(block_with("# pcast_dump.py"), "pcast_dump.py", "exec"), dump.__dict__)
        sys.modules["pcast_dump"] = dump
        dump.store(0, *(torch.zeros(1, 4, 4),) * 3)
        assert not os.path.exists("dump"), "stored without a folder"
        os.mkdir("dump")
        check_torch()
        file = "dump/layer{layer}.safetensors"
        subprocess.run([pcast, "diagnose", "--q", file, "--k", file, "--v", file, "--layer", "0:2:1", "--mask", "causal",
                        "-o", "heads.csv"], check=True)
        with open("heads.csv", encoding="utf-8") as rows:
            assert len(rows.readlines()) == 1 + 3 * HEADS
        fresh()
        check_engines()
        fresh()
        if transformers is not None:
            check_transformers()
        os.chdir("/")
    print(f"{len(BLOCKS)} blocks compile; hooks tried with PyTorch {torch.__version__}, "
          f"transformers {transformers.__version__ if transformers else 'missing'}")


main()
