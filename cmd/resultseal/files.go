// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// maxText bounds a policy, a file of dialects and other files that are read whole.
const maxText = 16 << 20

// readText reads a file of at most [maxText] bytes, and no more than that of one
// that has no end.
func readText(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, &engine.Error{Code: engine.CodeLimitExceeded, Offset: -1, Message: fmt.Sprintf("%s: file of more than %d bytes", display.Line(name), maxText)}
	}
	return text, nil
}

// readFailure is the error of a command that could not read a file.
func readFailure(err error) error {
	var coded *engine.Error
	if errors.As(err, &coded) {
		return coded
	}
	return invalidArgument(err.Error())
}

// namedFile is a file of the command line and the flag that names it.
type namedFile struct{ flag, name string }

// checkOutputs refuses outputs that would overwrite what is read, or each other,
// also through links. Standard input and output are no files.
func checkOutputs(outputs, inputs []namedFile) error {
	for n, out := range outputs {
		for _, other := range outputs[:n] {
			if isSameFile(out.name, other.name) {
				return invalidArgument(fmt.Sprintf("%s %s and %s %s are one file", other.flag, other.name, out.flag, out.name))
			}
		}
		for _, in := range inputs {
			if isSameFile(out.name, in.name) {
				return invalidArgument(fmt.Sprintf("%s %s would overwrite %s %s", out.flag, out.name, in.flag, in.name))
			}
		}
	}
	return nil
}

// isSameFile reports whether two names lead to one regular file. A name that leads
// to none yet is compared by its folder.
func isSameFile(a, b string) bool {
	if a == "" || b == "" || a == "-" || b == "-" {
		return false
	}
	aInfo, aErr := os.Stat(a)
	bInfo, bErr := os.Stat(b)
	switch {
	case aErr == nil && bErr == nil:
		return aInfo.Mode().IsRegular() && os.SameFile(aInfo, bInfo)
	case aErr == nil || bErr == nil:
		return false
	}
	aFolder, aErr := os.Stat(filepath.Dir(a))
	bFolder, bErr := os.Stat(filepath.Dir(b))
	if aErr != nil || bErr != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return os.SameFile(aFolder, bFolder) && filepath.Base(a) == filepath.Base(b)
}

// writeFile writes a file beside its place and then moves it there, so that no
// reader, and no interrupt, sees half of it. A link stays and its target is
// replaced. What is no regular file, such as a pipe, is written to directly.
func writeFile(name string, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0) // of a file that is replaced
	switch info, err := os.Stat(name); {
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	case err == nil:
		mode = info.Mode().Perm()
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	f, err := createBeside(name)
	if err != nil {
		return err
	}
	forget := unfinished.add(f.Name())
	defer func() {
		if err != nil {
			_ = f.Close() // the first error says more
			_ = os.Remove(f.Name())
		}
		forget()
	}()
	if err := write(f); err != nil {
		return err
	}
	if mode != 0 {
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// createBeside makes a new file in the folder of another one.
func createBeside(name string) (f *os.File, err error) {
	const tries = 1000
	folder, base := filepath.Split(name)
	for n := range tries {
		beside := filepath.Join(folder, fmt.Sprintf(".%s.%d.%d", base, os.Getpid(), n))
		f, err = os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) //nolint:gosec // as os.Create has it
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		path.Path = name // the other name means nothing to the user
	}
	return f, err
}

// unfinishedFiles are removed when the program is interrupted.
type unfinishedFiles struct {
	mu    sync.Mutex
	names map[string]bool
	watch sync.Once
}

var unfinished = &unfinishedFiles{names: map[string]bool{}}

// add notes a file until the returned function is called.
func (u *unfinishedFiles) add(name string) (forget func()) {
	u.watch.Do(func() {
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
		go func() {
			got := <-interrupts
			u.mu.Lock() // for good: nothing is moved to its place any more
			for name := range u.names {
				_ = os.Remove(name) // the program ends
			}
			code := 130
			if got == syscall.SIGTERM {
				code = 143
			}
			os.Exit(code)
		}()
	})
	u.mu.Lock()
	defer u.mu.Unlock()
	u.names[name] = true
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.names, name)
	}
}
