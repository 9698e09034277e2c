// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package child runs programs as child processes of a test. A child never outlives
// the test that started it.
package child

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Command is a program to run.
type Command struct {
	Name        string // in messages
	Binary      string
	Arguments   []string
	Dir         string   // its working directory
	Environment []string // added to the test's own
	Log         string   // path of the file that its standard output and error go to
}

// Process is a program that was started.
type Process struct {
	Name, Log string
	// Exited is closed when the process has ended. Err is its exit then.
	Exited chan struct{}
	Err    error

	command *exec.Cmd
}

// Start starts a program. It is killed at the end of the test, with everything that
// it started.
func Start(t testing.TB, c Command) *Process {
	t.Helper()
	p := &Process{Name: c.Name, Log: c.Log, Exited: make(chan struct{}), command: exec.Command(c.Binary, c.Arguments...)}
	log, err := os.Create(c.Log)
	require.NoError(t, err)
	defer log.Close()
	p.command.Dir, p.command.Stdout, p.command.Stderr = c.Dir, log, log
	p.command.Env = append(os.Environ(), c.Environment...)
	p.command.SysProcAttr = ownGroup()
	require.NoError(t, p.command.Start())
	t.Cleanup(p.Kill)
	go func() {
		p.Err = p.command.Wait()
		close(p.Exited)
	}()
	return p
}

// AwaitReady waits until ready returns true. It returns an error if the process ends
// before, or if that takes longer than patience.
func (p *Process) AwaitReady(ready func() bool, patience time.Duration) error {
	deadline := time.After(patience)
	for {
		select {
		case <-p.Exited:
			return fmt.Errorf("%s ended: %v", p.Name, p.Err)
		case <-deadline:
			return fmt.Errorf("%s was not ready after %v", p.Name, patience)
		case <-time.After(20 * time.Millisecond):
		}
		if ready() {
			return nil
		}
	}
}

// AwaitExit waits until the process has ended, and returns its exit or an error if
// that takes longer than patience.
func (p *Process) AwaitExit(patience time.Duration) error {
	select {
	case <-p.Exited:
		return p.Err
	case <-time.After(patience):
		return fmt.Errorf("%s did not end within %v", p.Name, patience)
	}
}

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) error { return p.command.Process.Signal(s) }

// Stop asks the process to end and waits for that, see AwaitExit.
func (p *Process) Stop(patience time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.AwaitExit(patience)
}

// Kill ends the process at once, as a machine that fails does, and waits for that.
func (p *Process) Kill() {
	select {
	case <-p.Exited: // its number may be somebody else's by now
	default:
		killGroup(p.command.Process)
		<-p.Exited
	}
}

// Memory returns what the process has in memory.
func (p *Process) Memory() (Memory, error) { return memoryOf(p.command.Process.Pid) }

// Memory is what a process has in memory, in bytes.
type Memory struct {
	Resident int64
	// Peak is the most that Resident was.
	Peak int64
	// Anonymous is the part of Resident that is no mapped file.
	Anonymous int64
}

// FreePorts finds ports on loopback that nobody listens on. Somebody else may take
// one before the caller does.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close() // not before all are found, so that they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// Address is a port on loopback.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Staleness names a source of the repository at top that is newer than a binary, ""
// if none is.
func Staleness(binary, top string) string {
	built, err := os.Stat(binary)
	if err != nil {
		return err.Error()
	}
	newer := ""
	for _, folder := range [...]string{"internal", "processor"} {
		err := filepath.Walk(filepath.Join(top, folder), func(path string, info os.FileInfo, err error) error {
			if err == nil && info.IsDir() && info.Name() == "testkit" {
				return filepath.SkipDir
			}
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || !info.ModTime().After(built.ModTime()) {
				return err
			}
			newer = fmt.Sprintf("%s is older than %s", binary, path)
			return filepath.SkipAll
		})
		if err != nil {
			return err.Error()
		}
	}
	return newer
}

// Distribution returns the path of the collector's distribution: that of
// RESULTSEAL_DISTRIBUTION, else dist/otelcol-resultseal of the repository at top. The
// test is skipped where there is none, or only one that is older than the sources;
// with RESULTSEAL_REQUIRE_DISTRIBUTION=1 it fails.
func Distribution(t testing.TB, top string) string {
	t.Helper()
	path, named := os.LookupEnv("RESULTSEAL_DISTRIBUTION")
	if !named {
		path = filepath.Join(top, "dist", "otelcol-resultseal")
	}
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	problem := ""
	if info, err := os.Stat(path); err != nil {
		problem = err.Error()
	} else if !info.Mode().IsRegular() {
		problem = path + " is not a file"
	} else if !named {
		problem = Staleness(path, top)
	}
	switch {
	case problem == "":
	case os.Getenv("RESULTSEAL_REQUIRE_DISTRIBUTION") == "1":
		t.Fatalf("%s; build the distribution with make dist", problem)
	default:
		t.Skipf("%s; build the distribution with make dist", problem)
	}
	return path
}
