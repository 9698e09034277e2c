// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// setting is where and when was measured.
type setting struct {
	date   string // of the newest commit, unless another was given
	cpu    string
	cores  int
	system string
	golang string
}

func newSetting(date string) (setting, error) {
	if date == "" {
		said, err := exec.Command("git", "-C", root, "show", "-s", "--format=%cs", "HEAD").Output()
		if err != nil {
			return setting{}, fmt.Errorf("the date of the newest commit: %w; give one with -date", err)
		}
		date = strings.TrimSpace(string(said))
	}
	return setting{date: date, cpu: cpuModel(), cores: runtime.NumCPU(), system: runtime.GOOS + "/" + runtime.GOARCH, golang: runtime.Version()}, nil
}

// cpuModel is what the system calls its processors.
func cpuModel() string {
	switch runtime.GOOS {
	case "linux":
		text, err := os.ReadFile("/proc/cpuinfo")
		if err != nil {
			break
		}
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	case "darwin":
		if said, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
			return strings.TrimSpace(string(said))
		}
	}
	return "a processor that does not tell its name"
}

func (s setting) String() string {
	return fmt.Sprintf("%s: %d × %s, %s, %s", s.date, s.cores, s.cpu, s.system, s.golang)
}
