// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ownGroup puts a process into a group of its own, and has the kernel kill it when
// the test binary ends without having stopped it.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a process and everything that it started.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

func memoryOf(pid int) (m Memory, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return m, err
	}
	fields := map[string]*int64{"VmRSS:": &m.Resident, "VmHWM:": &m.Peak, "RssAnon:": &m.Anonymous}
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 3 || fields[words[0]] == nil {
			continue
		}
		kibibytes, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return m, err
		}
		*fields[words[0]] = kibibytes << 10
		delete(fields, words[0])
	}
	if len(fields) > 0 {
		return m, fmt.Errorf("process %d has ended", pid)
	}
	return m, nil
}
