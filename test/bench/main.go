// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

// budget is how long a contestant may work in a round.
type budget struct {
	round time.Duration
}

// fullRound is the round for which the amounts of work are written down.
const fullRound = 50 * time.Millisecond

// scaled is an amount of work for a round, less if rounds are shorter. Longer rounds do
// not make it more.
func (b budget) scaled(amount int) int {
	return max(1000, min(amount, int(float64(amount)*float64(b.round)/float64(fullRound))))
}

// root is the folder of the repository, from which this is run.
const root = "../.."

// sections are the groups of rows, in the order of the table.
var sections = []struct {
	name  string
	build func(budget) ([]*contest, error)
}{
	{"seal", sealing},
	{"monitor", monitor},
	{"decode", decoding},
	{"score", scoring},
	{"plain", plainSpans},
	{"tools", toolSpans},
	{"shards", shards},
	{"distribution", distribution},
	{"command", command},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	if file := os.Getenv(unmarshalOnly); file != "" {
		return unmarshalLines(file)
	}
	var (
		benchtime = flag.Duration("benchtime", 500*time.Millisecond, "how long each contestant works, in all rounds together")
		rounds    = flag.Int("rounds", 10, "how many rounds there are")
		profiles  = flag.String("profiles", "", "then write a processor profile of each contestant into this folder")
		only      = flag.String("only", "", "measure the sections whose name this regular expression matches")
	)
	flag.Parse()
	if *rounds < 1 || *benchtime <= 0 {
		return errors.New("-rounds and -benchtime must be more than 0")
	}
	which, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	b := budget{*benchtime / time.Duration(*rounds)}
	t := newTable()
	for _, s := range sections {
		if !which.MatchString(s.name) {
			continue
		}
		contests, err := s.build(b)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, c := range contests {
			fmt.Fprintln(os.Stderr, c.name)
			all, err := c.run(*rounds, b.round)
			if err == nil && *profiles != "" {
				err = c.profile(*profiles, b.round)
			}
			if err := errors.Join(err, c.close()); err != nil {
				return err
			}
			t.add(c, all)
		}
	}
	fmt.Print(t)
	return nil
}
