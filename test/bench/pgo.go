// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// profiledFor is how long the collector works for each profile.
const profiledFor = 20 * time.Second

// profileCollector writes what go build -pgo is to know of the distribution: where it
// spends its time while it gets spans, and while it sends them on to a backend besides.
func profileCollector(file string) error {
	dir, err := os.MkdirTemp("", "resultseal-pgo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	backend, port, err := startBackend()
	if err != nil {
		return err
	}
	defer backend.Stop()
	arguments := []string{"tool", "pprof", "-proto"}
	for _, s := range []collectorSettings{{Exporter: "debug"}, {Exporter: "otlp_grpc", Backend: port}} {
		s.Processors, s.PProf = "resultseal", 1
		own := filepath.Join(dir, s.Exporter)
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		c, err := startCollector(filepath.Join(root, "dist", "otelcol-resultseal"), own, s, collectorSenders)
		if err != nil {
			return err
		}
		profile := filepath.Join(own, "profile")
		if err := errors.Join(c.profileUnderLoad(profile), c.stop()); err != nil {
			return err
		}
		arguments = append(arguments, profile)
	}
	merged, err := exec.Command("go", arguments...).Output()
	if err != nil {
		return fmt.Errorf("go tool pprof: %w", err)
	}
	return os.WriteFile(file, merged, 0o644)
}

// profileUnderLoad keeps the collector busy while it is profiled.
func (c *collector) profileUnderLoad(file string) error {
	done := make(chan error, 1)
	go func() {
		client := &http.Client{Timeout: profiledFor + patience}
		response, err := client.Get(fmt.Sprintf("%s?seconds=%d", c.profiler, int(profiledFor.Seconds())))
		if err != nil {
			done <- err
			return
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("the profiler answered %s", response.Status)
		}
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		done <- err
	}()
	for {
		if _, err := c.take(mixedShape, 1000); err != nil {
			return err
		}
		select {
		case err := <-done:
			return err
		default:
		}
	}
}
