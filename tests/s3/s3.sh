#!/usr/bin/env bash
# s3.sh SOURCE WORK TEST: fetches a server that speaks S3 by npm into WORK, once, and runs a file of
# tests with it and the aws CLI. Exit status 77: something it needs is not here.
# SPDX-License-Identifier: MIT
set -u
source=$1 work=$2 file=$3
# shellcheck source=tests/npm.sh
. "$source/tests/npm.sh"

aws=/usr/bin/aws # Debian's, where there are several
[ -x "$aws" ] || aws=$(command -v aws) || npm_skip "the aws CLI is missing (Debian: awscli)"
npm_fetch "$source/tests/s3" "$work" s3rver
# The server makes its tokens, which part a list into pages, by an old cipher.
NODE_OPTIONS=--openssl-legacy-provider PERFTRACE_TEST_AWS=$aws PERFTRACE_NODE_MODULES=$work/node_modules \
    exec node --test "$source/tests/s3/$file"
