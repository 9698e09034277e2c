// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// reloader reads policy_file at each tick and puts its policy in force if the content
// has changed. It compares content, because a mounted ConfigMap changes by a symbolic
// link. One goroutine owns it.
type reloader struct {
	path      string
	load      func(content []byte) (*policy.Policy, error)
	interval  time.Duration
	revisions *revision.Set
	rec       *recorder
	logger    *zap.Logger
	// report reports the component status: a recoverable error while the file has no
	// usable policy, and OK afterwards.
	report func(*componentstatus.Event)
	// ticks replaces the ticker of interval in tests.
	ticks <-chan time.Time

	content    [sha256.Size]byte // hash of the content that was read last
	invalid    bool              // that content is not a valid policy
	unreadable bool              // the latest read failed
}

// reloadOutcome is the outcome of a reload, as in the metric policy_reloads.
type reloadOutcome string

const (
	// reloadApplied: the file holds another policy, which is in force now.
	reloadApplied reloadOutcome = "applied"
	// reloadUnchanged: the file has changed, and its policy is the one in force.
	reloadUnchanged reloadOutcome = "unchanged"
	// reloadInvalid: the file holds no valid policy. The one in force stays.
	reloadInvalid reloadOutcome = "invalid"
	// reloadUnreadable: the file cannot be read. The policy in force stays.
	reloadUnreadable reloadOutcome = "unreadable"
)

var reloadOutcomes = []reloadOutcome{reloadApplied, reloadUnchanged, reloadInvalid, reloadUnreadable}

// settleTime is how long a changed file has to stay the same before it is used.
// Editors write in place, and the beginning of a policy may be a valid policy.
const settleTime = 100 * time.Millisecond

// run reloads until stop is closed.
func (r *reloader) run(stop <-chan struct{}) {
	ticks := r.ticks
	if ticks == nil {
		ticker := time.NewTicker(r.interval)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-stop:
			return
		case <-ticks:
			r.revisions.Collect()
			r.poll(stop)
		}
	}
}

// poll reads the file and uses it if it has changed.
func (r *reloader) poll(stop <-chan struct{}) {
	text, err := r.read()
	if err != nil {
		r.failed(err)
		return
	}
	content := sha256.Sum256(text)
	if content == r.content {
		if r.unreadable {
			r.readAgain()
		}
		return
	}
	select {
	case <-time.After(settleTime):
	case <-stop:
		return
	}
	if again, err := r.read(); err != nil || sha256.Sum256(again) != content {
		return // it is being written; retry at the next tick
	}
	r.use(text, content, stop)
}

// read reads the file. Pipes and the like are refused: reading one might never end.
func (r *reloader) read() ([]byte, error) {
	if regular, err := isRegular(r.path); err != nil {
		return nil, err
	} else if !regular {
		return nil, errors.New("it is not a regular file")
	}
	return readPolicyFile(r.path)
}

// failed reports that the file cannot be read, once.
func (r *reloader) failed(err error) {
	if r.unreadable {
		return
	}
	r.unreadable = true
	r.rec.Reloaded(reloadUnreadable)
	r.logger.Error("policy_file cannot be read; the policy in force stays", zap.String("policy_file", r.path), zap.Error(err))
	r.report(componentstatus.NewRecoverableErrorEvent(fmt.Errorf("policy_file cannot be read: %w", err)))
}

// readAgain reports that the file can be read again and has not changed.
func (r *reloader) readAgain() {
	r.unreadable = false
	r.logger.Info("policy_file can be read again and has not changed", zap.String("policy_file", r.path))
	if !r.invalid {
		r.report(componentstatus.NewEvent(componentstatus.StatusOK))
	}
}

// use puts the policy of a changed file in force if it is valid.
func (r *reloader) use(text []byte, content [sha256.Size]byte, stop <-chan struct{}) {
	p, err := r.load(text)
	if err != nil {
		r.content, r.invalid, r.unreadable = content, true, false
		r.rec.Reloaded(reloadInvalid)
		r.logger.Error("policy_file is not valid; the policy in force stays", zap.String("policy_file", r.path), zap.Error(err))
		r.report(componentstatus.NewRecoverableErrorEvent(fmt.Errorf("policy_file is not valid, the policy in force is an earlier one:\n%w", err)))
		return
	}
	outcome := reloadUnchanged
	if p.Hash != r.revisions.Current().Revision.Scorer.Policy().Hash {
		r.rec.Announce(p)
		if !r.revisions.Replace(p, stop) {
			return
		}
		outcome = reloadApplied
	}
	r.rec.Reloaded(outcome)
	r.logger.Info("policy_file was read again",
		zap.String("policy_file", r.path), zap.String("outcome", string(outcome)), zap.String("policy_hash", p.Hash))
	logWarnings(r.logger, p, time.Now())
	if r.invalid || r.unreadable {
		r.report(componentstatus.NewEvent(componentstatus.StatusOK))
	}
	r.content, r.invalid, r.unreadable = content, false, false
}

// isRegular reports whether a path is that of a regular file, after symbolic links.
func isRegular(path string) (bool, error) {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular(), err
}

// readPolicyFile reads at most one byte more than a policy may have, so that a file
// that is too large is rejected as such.
func readPolicyFile(path string) ([]byte, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, policy.MaxSize+1))
}
