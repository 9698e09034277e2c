// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Paths resolves what a user named: a file, a directory (all files under it, at
// any depth, except hidden ones; links to files, but not to directories) or a glob. "-" stays what it is. A file that is
// named twice is read once. The order is that of the arguments, by name within
// each.
func Paths(args []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(path string) {
		if clean := filepath.Clean(path); !seen[clean] {
			seen[clean] = true
			out = append(out, path)
		}
	}
	for _, arg := range args {
		if arg == "-" {
			add(arg)
			continue
		}
		matches := []string{arg}
		if _, err := os.Stat(arg); errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, "*?[") {
			if matches, err = filepath.Glob(arg); err != nil {
				return nil, fmt.Errorf("%s: the pattern is not valid", arg)
			}
			if len(matches) == 0 {
				return nil, fmt.Errorf("%s: no file matches", arg)
			}
		}
		slices.Sort(matches)
		for _, match := range matches {
			files, err := under(match)
			if err != nil {
				return nil, err
			}
			for _, file := range files {
				add(file)
			}
		}
	}
	return out, nil
}

// under lists the files at or under a path.
func under(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil // what is wrong with a file is said when it is read
	}
	var files []string
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case at != path && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.Type().IsRegular(), d.Type()&fs.ModeSymlink != 0 && regular(at):
			files = append(files, at)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no files are in it", path)
	}
	return files, err
}

// regular reports whether a link leads to a file.
func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
