// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package resultsealprocessor

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
)

// A pipe can be read once: by the processor when it is made, and never again.
func TestReloadOfPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	wrote := make(chan error)
	go func() {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err == nil {
			_, err = io.WriteString(f, requiring("ok"))
			err = errors.Join(err, f.Close())
		}
		wrote <- err
	}()
	p := newScoringProcessor(t, consumertest.NewNop(), "", func(c *Config) { c.PolicyFile = pipe })
	require.NoError(t, <-wrote)
	require.Nil(t, p.reloader)
	p.start(t)
	p.shutdown(t)

	// A file that becomes a pipe is not opened, which would never return.
	synctest.Test(t, func(t *testing.T) {
		r := newReloading(t, new(consumertest.TracesSink), requiring("ok"))
		require.NoError(t, os.Remove(r.cfg.PolicyFile))
		require.NoError(t, syscall.Mkfifo(r.cfg.PolicyFile, 0o600))
		r.tick()
		require.Equal(t, "unreadable StatusRecoverableError", r.outcome(t))
		r.shutdown(t)
	})
}
