// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
)

// The table stands between these two lines of the document.
const (
	beginMarker = "<!-- made by make bench-docs: begin -->"
	endMarker   = "<!-- made by make bench-docs: end -->"
)

// between puts text in place of what stands between the markers.
func between(document, text string) (string, error) {
	before, rest, found := strings.Cut(document, beginMarker+"\n")
	_, after, ended := strings.Cut(rest, endMarker)
	if !found || !ended {
		return "", fmt.Errorf("the document has no line %q with a line %q after it", beginMarker, endMarker)
	}
	return before + beginMarker + "\n" + strings.TrimRight(text, "\n") + "\n" + endMarker + after, nil
}

// writeBetween does so in a file.
func writeBetween(path, text string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := between(string(document), text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}
