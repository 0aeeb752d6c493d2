#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `pcast diagnose --report`: sound HTML that needs nothing else, and the numbers of the CSV.

Heads of random numbers with outlier keys, under names made to break a page. The standard library's parser checks that
elements nest, ids are unique and every reference within the page resolves; that nothing is loaded from anywhere; that
names come out as they went in; that tables have a cell for each column and say what the CSV of the same run says.
Where html5lib is installed its strict parser reads the pages too.

usage: report_html.py PCAST; exit 77 (skipped) where a package or gnuplot is missing.
"""
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)
try:
    import html5lib
except ImportError:
    html5lib = None
if shutil.which("gnuplot") is None:
    print("skipped: gnuplot is missing")
    sys.exit(77)

VOID = {"meta", "br", "hr", "img", "link", "input"}
LOADING = {"script", "link", "img", "iframe", "object", "embed", "audio", "video", "base", "image", "foreignobject"}
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
REFERENCES = {"aria-labelledby", "aria-describedby", "for", "headers"}


class Page(HTMLParser):
    """What a page holds, and what is wrong with it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.references, self.problems = [], [], [], []
        self.tables, self.code, self.title, self.headings = [], [], "", []
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"left open: {self.open}")

    def handle_starttag(self, tag, attrs):
        self.start(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        if tag not in VOID and "svg" not in self.open:
            self.problems.append(f"<{tag}/> outside of a picture")
        self.start(tag, attrs)

    def start(self, tag, attrs):
        if len({name for name, _ in attrs}) < len(attrs):
            self.problems.append(f"<{tag}> with an attribute twice")
        if tag in LOADING:
            self.problems.append(f"<{tag}> loads something")
        for name, value in attrs:
            self.attribute(tag, name, value or "")
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "code":
            self.code.append("")
        elif tag in ("h1", "h2", "h3"):
            self.headings.append(int(tag[1]))

    def attribute(self, tag, name, value):
        if name == "id":
            self.ids.append(value)
        elif name in REFERENCES:
            self.references += value.split()
        elif name in ("href", "xlink:href", "src"):
            if not value.startswith("#"):
                self.problems.append(f"<{tag} {name}={value!r}> leads out of the page")
            self.references.append(value[1:])
        elif name.startswith("on"):
            self.problems.append(f"<{tag} {name}> is a script")
        if "://" in value and not (name.startswith("xmlns") and value in NAMESPACES):
            self.problems.append(f"<{tag} {name}={value!r}> is a URL")
        self.references += re.findall(r"url\(#([^)]*)\)", value)
        if re.search(r"url\((?!#)", value):
            self.problems.append(f"<{tag} {name}={value!r}> loads something")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing that is open, line {self.getpos()[0]}")

    def handle_data(self, data):
        inner = self.open[-1] if self.open else ""
        if inner == "style" and re.search(r"url\(|@import|://", data):
            self.problems.append("the style sheet loads something")
        if "://" in data:
            self.problems.append(f"a URL in the text: {data!r}")
        if inner == "title" and "svg" not in self.open:
            self.title += data
        if "code" in self.open:
            self.code[-1] += data
        if inner in ("td", "th"):
            self.tables[-1][-1][-1] += data


def check_sound(name, raw):
    """Everything about a page but its numbers; returns the parsed page."""
    text = raw.decode("utf-8")
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">"), name
    problems = page.problems
    twice = sorted({i for i in page.ids if page.ids.count(i) > 1})
    lost = sorted(set(page.references) - set(page.ids))
    problems += [f"id {i} is not unique" for i in twice] + [f"nothing has the id {i}" for i in lost]
    if page.headings[0] != 1 or page.headings.count(1) != 1:
        problems.append(f"headings {page.headings}")
    for table in page.tables:
        if len({len(row) for row in table}) != 1:
            problems.append(f"a table of uneven rows: {[len(row) for row in table]}")
    if any(re.search(r"nan|inf", cell) for table in page.tables for row in table for cell in row):
        problems.append("nan or inf in a table")
    assert not problems, f"{name}: " + "; ".join(problems)
    if html5lib is not None:
        html5lib.HTMLParser(strict=True).parse(raw)
    return page


def short(value):
    return f"{float(value):g}"


def percent(value, digits):
    return "\u2013" if value in ("nan", "inf") else f"{100 * float(value):.{digits}g}"


def check_numbers(page, rows, trade_off, quantized):
    """The table of heads against the CSV, that of settings against the trade-off."""
    heads = page.tables[0][1:]
    assert len(heads) == len(rows)
    for cells, row in zip(heads, rows):
        assert cells[0] == row["layer"] and cells[1] == row["head"], cells
        assert cells[2] == f"{float(row['gap']):.1f}" and cells[3] == f"{float(row['score_sd']):.2f}", cells
        assert cells[5] == (percent(row["theory_shape"], 3) if row["theory_shape"] else "\u2013"), cells
        assert cells[6:10] == [percent(row["underflow"], 3), percent(row["saturated"], 3),
                               percent(row["mass_kept"], 5), percent(row["now_rel_l2"], 2)], cells
        assert cells[10:14] == [row["best_order"], short(row["best_scale"]), short(row["best_threshold"]),
                                percent(row["best_rel_l2"], 2)], cells
    settings = page.tables[2 if quantized else 1][1:]
    known = {(t["order"], short(t["scale"]), short(t["rescale_threshold"])): t for t in trade_off}
    means = [float(known[tuple(cells[:3])]["mean_ratio"]) for cells in settings]
    assert means[:15] == sorted(means[:15]), means
    assert means[0] == min(float(t["mean_ratio"]) for t in trade_off if t["mean_ratio"] not in ("nan", "inf"))
    for cells in settings:
        row = known[tuple(cells[:3])]
        assert cells[3:5] == [f"{float(row[n]):.3f}" if row[n] not in ("nan", "inf") else "\u2013"
                              for n in ("mean_ratio", "largest_ratio")], cells
    assert sum("recommended" in cells[5] for cells in settings) == 1


def write_heads(folder, rng, layers, heads, kv, tokens, dim, name):
    for layer in range(layers):
        q, k, v = (rng.standard_normal((n, tokens, dim)).astype(np.float32) for n in (heads, kv, kv))
        k[:, :2] += 1.5  # a direction that all queries share: the first keys become sinks
        q += 1.5
        for part, x in zip("qkv", (q, k, v)):
            np.save(os.path.join(folder, f"{name}{layer:02d}{part}.npy"), x)


def run(pcast, folder, name, spec, layers, quantized):
    arguments = [pcast, "diagnose", "--kernel", spec, "--mask", "causal", "--report", "page.html",
                 "--trade-off", "trade_off.csv"]
    for part in "qkv":
        arguments += [f"--{part}", f"{name}{{layer}}{part}.npy"]
    arguments += ["--layer", ",".join(map(str, range(layers)))] + ["--quantize"] * quantized
    done = subprocess.run(arguments, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8", "replace"))))
    with open(os.path.join(folder, "trade_off.csv"), encoding="utf-8") as stream:
        trade_off = list(csv.DictReader(stream))
    with open(os.path.join(folder, "page.html"), "rb") as stream:
        return stream.read(), rows, trade_off


CASES = [  # SPEC, name of the files, layers, heads, KV heads, --quantize
    ("paper:block=16", "plain", 1, 1, 1, False),
    ("fa3:block=16", "a<b>&\"c\"'d", 2, 4, 2, False),
    ("sage2pp:block=16", "--><script>x", 3, 3, 1, True),
    ("fa4-offset8-tau4:block=16;overflow=nan", "&lt;&#60;", 1, 3, 3, True),
    ("torch-ref", "\u00e9\u4e2d]]>", 1, 2, 2, False),
    ("xqa-sm90", "broken\udcff\udcc3(", 1, 2, 1, False),  # bytes that are no UTF-8
    ("paper:block=16;mask=causal", "many", 30, 4, 2, True),
]


def main():
    pcast = os.path.abspath(sys.argv[1])
    rng = np.random.default_rng(7)
    for spec, name, layers, heads, kv, quantized in CASES:
        with tempfile.TemporaryDirectory() as folder:
            write_heads(folder, rng, layers, heads, kv, 40, 8, name)
            raw, rows, trade_off = run(pcast, folder, name, spec, layers, quantized)
        page = check_sound(name, raw)
        check_numbers(page, rows, trade_off, quantized)
        shown = re.sub("[\udc80-\udcff]", "\ufffd", name)
        label = spec if "mask=" in spec else f"{spec};mask=causal" if ":" in spec else f"{spec}:mask=causal"
        assert page.title == f"What {label} does to these heads", page.title
        assert page.code[0] == label and page.code[1:4] == [f"{shown}{{layer}}{p}.npy" for p in "qkv"], page.code
        assert page.code[-1].startswith("pcast diagnose --kernel") and "--report page.html" in page.code[-1]
        assert raw.count(b"<svg ") == 3 + quantized
        print(f"{spec}: {len(rows)} heads, {len(raw)} bytes, {len(page.ids)} ids")
    print("html5lib read every page" if html5lib is not None else "html5lib is missing: only the standard library's parser")


main()
