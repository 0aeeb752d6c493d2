# SPDX-License-Identifier: MIT
# A file as the elements of an array of C strings, one a line.
s/[\\"]/\\&/g
s/.*/"&\\n",/
