// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the dashboards into the folder that it is given.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/resultseal/otelcol-resultseal/internal/dashboards"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(folder string) error {
	files, err := dashboards.All()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(folder, f.Name), f.JSON, 0o644); err != nil { //nolint:gosec // to be read by Grafana
			return err
		}
	}
	return nil
}
