// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// setOnce makes every flag of a command and of its subcommands an error if it is
// given twice and takes one value: which of the two counts is a guess. Flags that
// collect values may be repeated, and so may a boolean flag with the same value.
func setOnce(cmd *cobra.Command) {
	wrap := func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list {
			f.Value = &onceValue{Value: f.Value}
		}
	}
	cmd.Flags().VisitAll(wrap)
	cmd.PersistentFlags().VisitAll(wrap)
	for _, sub := range cmd.Commands() {
		setOnce(sub)
	}
}

// onceValue is a flag's value that is set once.
type onceValue struct {
	pflag.Value
	given bool
}

var errGivenTwice = errors.New("the flag takes one value and is given twice")

// Set implements pflag.Value.
func (v *onceValue) Set(text string) error {
	before := v.String()
	if err := v.Value.Set(text); err != nil {
		return err
	}
	if v.given && (v.Type() != "bool" || v.String() != before) {
		return errGivenTwice
	}
	v.given = true
	return nil
}

// IsBoolFlag makes pflag show a boolean flag as one.
func (v *onceValue) IsBoolFlag() bool { return v.Type() == "bool" }
