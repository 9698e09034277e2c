// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// version is this project's; the semantics have their own, which stands on records.
const version = "0.1.0"

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and that of the semantics",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versions())
			return err
		},
	}
}

func versions() string {
	return fmt.Sprintf("%s (ResultSeal semantics %s)", version, engine.SemanticsVersion)
}
