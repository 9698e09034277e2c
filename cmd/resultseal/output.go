// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// formats are the values of --format.
var formats = []string{"table", "json", "jsonl", "junit", "sarif", "html"}

// formatOfName is the format of a file of --out by the end of its name; json for
// any other.
var formatOfName = map[string]string{".html": "html", ".htm": "html", ".sarif": "sarif", ".xml": "junit", ".jsonl": "jsonl"}

// output is a report that is written.
type output struct {
	format string
	file   string // "" for standard output
}

// withFormat matches FORM=FILE. A name in front of the "=" that could be no format
// is part of the file's name.
var withFormat = regexp.MustCompile(`^([A-Za-z]+)=(.*)$`)

// outputs returns the reports that --format and --out ask for.
func outputs(format string, out []string, stdout io.Writer) ([]output, error) {
	if format != "" && !slices.Contains(formats, format) {
		return nil, invalidArgument(fmt.Sprintf("--format %q is unknown; use %s", format, strings.Join(formats, ", ")))
	}
	if format != "" && len(out) > 1 {
		return nil, invalidArgument("--format is for one --out; with several, write --out FORM=FILE")
	}
	if len(out) == 0 {
		out = []string{"-"}
	}
	var all []output
	for _, text := range out {
		o := output{format: format, file: text}
		if m := withFormat.FindStringSubmatch(text); m != nil {
			if !slices.Contains(formats, m[1]) {
				return nil, invalidArgument(fmt.Sprintf("--out %q: the form %q is unknown; use %s, or ./%s for a file with that name", text, m[1], strings.Join(formats, ", "), text))
			}
			if format != "" {
				return nil, invalidArgument(fmt.Sprintf("--out %q has a form, so leave --format out", text))
			}
			o = output{format: m[1], file: m[2]}
		}
		switch {
		case o.file == "":
			return nil, invalidArgument(fmt.Sprintf("--out %q names no file; use - for standard output", text))
		case o.file == "-":
			o.file = ""
		}
		if o.format == "" {
			o.format = defaultFormat(o.file, stdout)
		}
		if slices.ContainsFunc(all, func(p output) bool { return p.file == o.file || isSameFile(p.file, o.file) }) {
			return nil, invalidArgument(fmt.Sprintf("--out names %s twice", cmp.Or(o.file, "standard output")))
		}
		all = append(all, o)
	}
	return all, nil
}

// defaultFormat returns the format of an output that is given without one.
func defaultFormat(file string, stdout io.Writer) string {
	switch format := formatOfName[strings.ToLower(filepath.Ext(file))]; {
	case format != "":
		return format
	case file == "" && isTerminal(stdout):
		return "table"
	}
	return "json"
}

// writeTo writes to a file, or to standard output if there is no name.
func writeTo(stdout io.Writer, name, flag string, write func(io.Writer) error) error {
	if name == "" {
		return write(stdout)
	}
	if err := writeFile(name, write); err != nil {
		return invalidArgument(flag + ": " + err.Error())
	}
	return nil
}
