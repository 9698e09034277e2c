// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
	"unicode"
)

// figures are what one round of one contestant came to. Times are nanoseconds for one
// operation.
type figures struct {
	cpu    float64 // of the whole process, garbage collection included
	wall   float64
	allocs float64 // for one operation; negative where they are not counted
}

// contestant is one of those that are measured in turn.
type contestant struct {
	name string
	// round works for about as long as it is told and says what one operation cost.
	round func(budget time.Duration) (figures, error)
}

// contest measures contestants in turn. Its lines compare them.
type contest struct {
	name        string
	contestants []contestant
	lines       []line
	children    bool         // the work is done by other processes
	cleanup     func() error // if something was started for it
}

// close ends what was started for the contest.
func (c *contest) close() error {
	if c.cleanup == nil {
		return nil
	}
	return c.cleanup()
}

// results are the figures of every round, for each contestant.
type results [][]figures

// run lets every contestant have its turn in every round. Every other round goes
// backwards, so that nobody always comes after the same one.
func (c *contest) run(rounds int, budget time.Duration) (results, error) {
	all := make(results, len(c.contestants))
	once := func(i int, budget time.Duration) (figures, error) {
		runtime.GC() // nobody pays for what the one before has left
		f, err := c.contestants[i].round(budget)
		if err != nil {
			return f, fmt.Errorf("%s, %s: %w", c.name, c.contestants[i].name, err)
		}
		return f, nil
	}
	for i := range c.contestants { // what is made at the first use is no part of the cost
		if _, err := once(i, budget/4); err != nil {
			return nil, err
		}
	}
	for r := range rounds {
		for i := range c.contestants {
			if r%2 == 1 {
				i = len(c.contestants) - 1 - i
			}
			f, err := once(i, budget)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], f)
		}
	}
	return all, nil
}

// profile lets every contestant work for a while and writes a processor profile of each,
// if it does its work in this process.
func (c *contest) profile(dir string, budget time.Duration) error {
	if c.children {
		return nil
	}
	const least = 2 * time.Second // a profile has a hundred samples a second
	for i := range c.contestants {
		file, err := os.Create(filepath.Join(dir, strings.Map(fileName, c.name+"-"+c.contestants[i].name)+".pprof"))
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		for end := time.Now().Add(least); time.Now().Before(end) && err == nil; {
			_, err = c.contestants[i].round(budget)
		}
		pprof.StopCPUProfile()
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// fileName leaves of a name what may stand in the name of a file.
func fileName(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return '-'
}

// measured is what f cost, divided by the operations that it says it did.
func measured(f func() (operations int, err error)) (figures, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, wall := processTime(), time.Now()
	n, err := f()
	took, worked := time.Since(wall), processTime()-cpu
	runtime.ReadMemStats(&after)
	if err != nil {
		return figures{}, err
	}
	if n < 1 {
		return figures{}, errors.New("nothing was done")
	}
	per := 1 / float64(n)
	return figures{
		cpu:    float64(worked) * per,
		wall:   float64(took) * per,
		allocs: float64(after.Mallocs-before.Mallocs) * per,
	}, nil
}

// ballastBytes are held, and never touched, while one operation is repeated. A process
// that holds next to nothing collects its garbage every four megabytes, and then how much
// another measurement has left decides what this one costs.
const ballastBytes = 64 << 20

// repeated is a contestant that does one operation again and again.
func repeated(name string, operation func() error) contestant {
	n := 0
	loop := func(n int) (figures, error) {
		return measured(func() (int, error) {
			for range n {
				if err := operation(); err != nil {
					return 0, err
				}
			}
			return n, nil
		})
	}
	return contestant{name, func(budget time.Duration) (figures, error) {
		ballast := make([]byte, ballastBytes)
		defer runtime.KeepAlive(ballast)
		runtime.GC()
		for n == 0 { // how many fill the budget is found once, so that all rounds are alike
			if f, err := loop(1); err != nil {
				return f, err
			}
			for tried := 1; ; tried *= 4 {
				f, err := loop(tried)
				if err != nil {
					return f, err
				}
				if took := time.Duration(f.wall * float64(tried)); took > budget/8 {
					n = max(1, int(float64(budget)/f.wall))
					break
				}
			}
		}
		return loop(n)
	}}
}
