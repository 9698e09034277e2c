// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// budget is how long a contestant may work in a round.
type budget struct {
	round time.Duration
}

// fullRound is the round for which the amounts of work are written down.
const fullRound = 100 * time.Millisecond

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

// settings are the flags.
type settings struct {
	benchtime time.Duration
	rounds    int
	only      string
	profiles  string
	out       string
	docs      string
	date      string
	pgo       string
}

func run() error {
	if file := os.Getenv(unmarshalOnly); file != "" {
		return unmarshalLines(file)
	}
	var s settings
	flag.DurationVar(&s.benchtime, "benchtime", time.Second, "how long each contestant works, in all rounds together")
	flag.IntVar(&s.rounds, "rounds", 10, "how many rounds there are")
	flag.StringVar(&s.only, "only", "", "measure the sections whose name this regular expression matches")
	flag.StringVar(&s.profiles, "profiles", "", "then write a processor profile of each contestant into this folder")
	flag.StringVar(&s.out, "out", "", "write every round to this file, for benchstat")
	flag.StringVar(&s.docs, "docs", "", "put the table between the markers of this file")
	flag.StringVar(&s.date, "date", "", "the date that stands above the table (default: that of the newest commit)")
	flag.StringVar(&s.pgo, "pgo", "", "measure nothing, but write a profile of the collector under load to this file, for go build -pgo")
	flag.Parse()
	if s.rounds < 1 || s.benchtime <= 0 {
		return errors.New("-rounds and -benchtime must be more than 0")
	}
	if s.pgo != "" {
		return profileCollector(s.pgo)
	}
	where, err := newSetting(s.date)
	if err != nil {
		return err
	}
	var rounds bytes.Buffer
	table, err := s.measure(&rounds)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s, %d rounds with a budget of %v each.\n\n%s", where, s.rounds, s.benchtime/time.Duration(s.rounds), table)
	fmt.Print(text)
	if s.out != "" {
		if err := os.WriteFile(s.out, rounds.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if s.docs != "" {
		return writeBetween(s.docs, text)
	}
	return nil
}

// measure runs the contests of all sections that are asked for, and writes down every
// round.
func (s *settings) measure(rounds io.Writer) (*table, error) {
	which, err := regexp.Compile(s.only)
	if err != nil {
		return nil, err
	}
	b := budget{s.benchtime / time.Duration(s.rounds)}
	t := newTable()
	for _, section := range sections {
		if !which.MatchString(section.name) {
			continue
		}
		contests, err := section.build(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", section.name, err)
		}
		for i, c := range contests {
			if err := s.hold(c, b, t, rounds); err != nil {
				for _, left := range contests[i+1:] {
					err = errors.Join(err, left.close())
				}
				return nil, err
			}
		}
	}
	return t, nil
}

// hold holds a contest, adds its lines to the table and ends what was started for it.
func (s *settings) hold(c *contest, b budget, t *table, rounds io.Writer) error {
	fmt.Fprintln(os.Stderr, c.name)
	all, err := c.run(s.rounds, b.round)
	if err == nil && s.profiles != "" {
		err = c.profile(s.profiles, b.round)
	}
	if err := errors.Join(err, c.close()); err != nil {
		return err
	}
	t.add(c, all)
	return writeRounds(rounds, c, all)
}
