// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// commandBytes is how large a file is scored in a full round.
const commandBytes = 64 << 20

// unmarshalOnly is the environment variable that makes this program read a file of OTLP
// JSON lines and do no more: what the command line is held against must start, and
// collect its garbage, as a process of its own too.
const unmarshalOnly = "RESULTSEAL_BENCH_UNMARSHAL"

// command compares `resultseal score` over a file with unmarshalling its lines one after
// the other.
func command(b budget) ([]*contest, error) {
	dir, err := os.MkdirTemp("", "resultseal-bench-")
	if err != nil {
		return nil, err
	}
	c := &contest{name: "command", children: true, cleanup: func() error { return os.RemoveAll(dir) }}
	file := filepath.Join(dir, "traces.jsonl")
	size, err := writeCopies(file, b.scaled(commandBytes))
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	binary := filepath.Join(dir, "resultseal")
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", binary, "./cmd/resultseal")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", err, said), c.close())
	}
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	policy := filepath.Join(root, "examples", "quickstart", "policy.yaml")
	score := func(more ...string) func() *exec.Cmd {
		return func() *exec.Cmd {
			return exec.Command(binary, append([]string{"score", "--policy", policy, "--format", "json", "--out", os.DevNull, file}, more...)...)
		}
	}
	c.contestants = []contestant{
		child("resultseal score", size, score()),
		child("resultseal score --jobs 1", size, score("--jobs", "1")),
		child("pdata alone", size, func() *exec.Cmd {
			alone := exec.Command(self)
			alone.Env = append(os.Environ(), unmarshalOnly+"="+file)
			return alone
		}),
	}
	most := target{ratioAtMost: 1.3}
	c.lines = []line{
		{what: "score OTLP JSON lines", of: 0, against: 2, figure: wall, unit: " a MiB", target: most},
		{what: "… processor time", of: 0, against: 2, unit: " a MiB", headline: "`resultseal score` over OTLP JSON lines"},
		{what: "score OTLP JSON lines with --jobs 1", of: 1, against: 2, figure: wall, unit: " a MiB", target: most},
		{what: "… processor time", of: 1, against: 2, unit: " a MiB"},
	}
	return []*contest{c}, nil
}

// child is a contestant that runs a program once a round, over a file of some bytes.
func child(name string, bytes int, program func() *exec.Cmd) contestant {
	return contestant{name, func(time.Duration) (figures, error) {
		run := program()
		start := time.Now()
		said, err := run.CombinedOutput()
		took := time.Since(start)
		if err != nil {
			return figures{}, fmt.Errorf("%w: %s", err, said)
		}
		per := 1 / (float64(bytes) / (1 << 20))
		worked := run.ProcessState.UserTime() + run.ProcessState.SystemTime()
		return figures{cpu: float64(worked) * per, wall: float64(took) * per, allocs: -1}, nil
	}}
}

var traceIDs = regexp.MustCompile(`"traceId":\s*"[0-9a-fA-F]{8}`)

// writeCopies writes copies of the recordings until there are enough bytes, and says how
// many there are. The traces of each copy have ids of their own.
func writeCopies(path string, enough int) (size int, err error) {
	all, err := recordings()
	if err != nil {
		return 0, err
	}
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriter(file)
	for copied := 0; size < enough; copied++ { // the rest of the id is random in every recording
		for _, r := range all {
			for _, line := range r.lines {
				line = traceIDs.ReplaceAllFunc(line, func(id []byte) []byte {
					return fmt.Appendf(bytes.Clone(id[:len(id)-8]), "%08x", copied+1)
				})
				n, err := w.Write(append(line, '\n'))
				if err != nil {
					return size, err
				}
				size += n
			}
		}
	}
	return size, w.Flush()
}

// unmarshalLines is what the command line is held against.
func unmarshalLines(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var unmarshal ptrace.JSONUnmarshaler
	spans := 0
	for r := bufio.NewReaderSize(file, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			td, err := unmarshal.UnmarshalTraces(line)
			if err != nil {
				return err
			}
			spans += td.SpanCount()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if spans == 0 {
		return errors.New("the file holds no spans")
	}
	return nil
}
