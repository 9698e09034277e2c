// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the table of instrumentations into a page of the
// documentation and the JSON Schema of files of dialects.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/instrumentations"
)

const (
	begin = "<!-- The table is generated: make generate -->\n"
	end   = "<!-- The end of the table -->\n"
)

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: generate PAGE SCHEMA"))
	}
	page, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		fail(fmt.Errorf("%s has no table between %q and %q", os.Args[1], begin, end))
	}
	text := before + begin + "\n" + instrumentations.Table() + "\n" + end + after
	if err := os.WriteFile(os.Args[1], []byte(text), 0o600); err != nil {
		fail(err)
	}
	if err := os.WriteFile(os.Args[2], genai.SettingsSchema(), 0o600); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "generate:", err)
	os.Exit(1)
}
