// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/confmap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/scoring"
)

// Config is what stands under `resultseal:` in a collector's configuration.
type Config struct {
	// Policy is the policy document itself: contracts and protocols. Write it
	// in place, or keep it in a file of its own with
	// `policy: ${file:policy.yaml}`, which is read again on every reload of
	// the collector's configuration; an invalid policy then ends the collector.
	// The collector expands `${…}` in it and
	// reads `$$` as `$`; use policy_file for a file that must be taken as it
	// is.
	Policy map[string]any `mapstructure:"policy"`

	// PolicyFile is the path of a policy file, relative to the collector's
	// working directory. Prefer it when the same file is given to the command
	// line, or when the policy changes while the collector runs: nothing is
	// expanded in it, errors name the file, and it is read again when it
	// changes. Exclusive with policy.
	PolicyFile string `mapstructure:"policy_file"`

	// PolicyReloadInterval is how often policy_file is read to see whether its
	// content has changed. An invalid policy is logged and counted, and the last
	// valid one stays in force. Traces that have begun are evaluated by the policy
	// that was in force then. 0 never reads it again. Default 30s.
	PolicyReloadInterval time.Duration `mapstructure:"policy_reload_interval"`

	// Mode is trace or stream. In trace, spans are held until their trace is
	// finished, and each carries the final verdict. In stream, a span is
	// passed on at once with what it proves by itself and, where its events
	// come in order, a provisional step of the protocols; only roots are held,
	// to carry the session's verdict. Use stream where spans must not wait.
	// Default trace.
	Mode Mode `mapstructure:"mode"`

	// RootDelay is how long a trace is still held after its first root span
	// came. Children usually come before their root, so the default of 2s
	// covers spans of other services that are flushed a little later; raise
	// it when services export in longer intervals. 0 finishes a trace with
	// its root. At most MaxAge. Default 2s.
	RootDelay time.Duration `mapstructure:"root_delay"`

	// IdleTimeout finishes a trace that has seen no new span for this long,
	// root or not. It should be longer than the longest pause between two
	// exports of one trace: SDKs export spans when they end, so a single slow
	// model call is such a pause. Default 10s.
	IdleTimeout time.Duration `mapstructure:"idle_timeout"`

	// MaxAge finishes a trace this long after its first span, whatever still
	// comes. It has to exceed the longest run of an agent under one trace: what
	// comes afterwards is judged span by span, and a violation that it could
	// explain is inconclusive, with the gap `max_age`. Default 5m.
	MaxAge time.Duration `mapstructure:"max_age"`

	// NumShards is how many goroutines assemble and judge traces, and how many
	// judge those of conversations that a protocol follows and pass all on; traces and conversations are spread over them by their
	// ids. max_traces, max_bytes, decided_cache and max_sessions are divided
	// among them. 0 is one for each CPU. Default 0.
	NumShards int `mapstructure:"num_shards"`

	// MaxTraces is how many traces are held at most. Above it the oldest is
	// finished early and passed on, never dropped. Size it for new traces a
	// second times how long they are held. Default 50000.
	MaxTraces int `mapstructure:"max_traces"`

	// MaxBytes is the approximate memory budget for buffered spans and for the
	// states of conversations, including as much again for the garbage collector.
	// Under pressure, with much on its way in and out, the process may grow by twice
	// that. Above it the oldest trace is completed early and forwarded, never dropped.
	// One batch may exceed it for a moment. The states of conversations take at most
	// half of it: above that, those whose last trace is longest ago are evicted, and
	// their next trace has the gap `evicted`. The hashes of evicted conversations take
	// at most three eighths, about 110 bytes each. Default 268435456 (256 MiB).
	MaxBytes int64 `mapstructure:"max_bytes"`

	// MaxSpansPerTrace is how many spans one trace may have. Above it the
	// trace is finished and what still comes of it is late, so that one trace
	// that never ends cannot hold up all the others while it is judged. One
	// batch may exceed it. 0 is no limit. Default 100000.
	MaxSpansPerTrace int `mapstructure:"max_spans_per_trace"`

	// DecidedCache is how many ids of finished traces are remembered, to tell
	// a late span from the start of a new trace. Each takes about 100 bytes.
	// Size it for the traces of as long as late spans may come; 0 treats
	// every late span as a new trace, which then waits for idle_timeout.
	// Default 100000.
	DecidedCache int `mapstructure:"decided_cache"`

	// MaxSessions is how many conversations' states are kept between their
	// traces, for protocols with `session: conversation`. Above it the one
	// whose last trace is longest ago is evicted; a trace that comes of it later
	// has the gap `evicted`, as long as it is among the last eight times as many
	// evictions. A typical state counts with 700 bytes against max_bytes. Default
	// 100000.
	MaxSessions int `mapstructure:"max_sessions"`

	// MaxSessionBytes bounds the state of one conversation between its traces, in
	// bytes: monitors with their registers, hashes of messages, ids of calls. A state
	// that is larger is evicted, and the conversation's next trace has the gap
	// evicted. All states together take at most half of max_bytes; a typical one takes
	// a few hundred bytes. Default 65536 (64 KiB).
	MaxSessionBytes int `mapstructure:"max_session_bytes"`

	// SessionTTL is how long a conversation's state is kept after its last
	// trace. Make it longer than the longest pause between two turns that you
	// want to see as one conversation. Default 1h.
	SessionTTL time.Duration `mapstructure:"session_ttl"`

	// MaxClockSkew is how far a span may be dated ahead of this collector's clock.
	// A trace with a span further ahead is judged by itself, with the gap `ahead`:
	// its events do not move the conversation on, or one wrong clock would put
	// everything that follows in the past. Raise it where clocks differ by more.
	// Default 1m.
	MaxClockSkew time.Duration `mapstructure:"max_clock_skew"`

	// Storage is the id of a storage extension, such as `file_storage`, in which
	// everything that is held is written down: a batch before its sender is
	// told that it was accepted, and what was decided and what conversations
	// have come to when a trace has left. Then nothing that was accepted is
	// lost when the process is killed, and a restart finishes no trace early.
	// What was being passed on at a kill may come twice. Default none: a
	// process that is killed loses what it held.
	Storage *component.ID `mapstructure:"storage"`

	// Retry says how a finished trace is offered again that the next component
	// refused with an error that is not permanent. Meanwhile it counts against
	// max_bytes, and when that is exceeded senders get a retryable error, so
	// that the pressure reaches them. Exporters with a sending queue retry
	// themselves, so this is for what stands before them. On shutdown all that
	// is left has max_elapsed_time together. Default enabled, with
	// initial_interval 1s, max_interval 30s and max_elapsed_time 5m.
	Retry configretry.BackOffConfig `mapstructure:"retry"`

	// Prefix begins the name of every attribute and span event that is
	// written, except those that the GenAI conventions name. Everything under
	// it in the spans that come in is removed, so that senders cannot forge
	// verdicts: use a prefix under which nobody else writes. Two processors in
	// a row need two prefixes, of which neither begins with the other. Default
	// "resultseal.".
	Prefix string `mapstructure:"prefix"`

	// Annotations says what is written besides the verdicts.
	Annotations AnnotationsConfig `mapstructure:"annotations"`

	// Telemetry bounds the processor's own metrics.
	Telemetry TelemetryConfig `mapstructure:"telemetry"`

	// Content says what becomes of tool results after they were sealed, in
	// whatever attribute, span event or message part they stand, also where
	// later model calls repeat them: `keep` leaves them, `hash` puts a hash in
	// their place, which is keyed if annotations::hash_key is set, and `drop`
	// removes them. Verdicts are the same. What a model or a user says of a
	// result in words is no tool result and stays. Default keep.
	Content ContentMode `mapstructure:"content"`

	// ContentArguments does the same with the arguments of tool calls. Needs
	// content: hash or drop. Default false.
	ContentArguments bool `mapstructure:"content_arguments"`

	// Dialects are further ways in which tool calls and messages stand in
	// spans, for instrumentations that the built-in table does not know. They
	// are tried before it. docs/instrumentations.md has the form.
	Dialects genai.DialectSettings `mapstructure:"dialects"`

	// ConversationAttributes are the span attributes that name a conversation,
	// in order of preference. They replace the built-in list:
	// gen_ai.conversation.id, session.id, langfuse.session.id and
	// traceloop.association.properties.session_id, which is the default.
	ConversationAttributes []string `mapstructure:"conversation_attributes"`

	// ConversationResourceAttributes are resource attributes that belong to a
	// conversation's identity beside its id, such as `tenant.id`. Set it where
	// several tenants or applications may use the same conversation id; every
	// resource of a conversation must have the same values. Default none: one id
	// is one conversation, whichever service names it.
	ConversationResourceAttributes []string `mapstructure:"conversation_resource_attributes"`

	// policyText is the policy's own text where the collector still had it,
	// so that errors can name its lines; empty otherwise.
	policyText string
}

// AnnotationsConfig says what is written onto spans besides the verdicts.
type AnnotationsConfig struct {
	// Record adds the references, evidence and ids of each observation to its
	// span, enough to recompute the fingerprint later without this policy.
	// Turn it on where verdicts are audited; it adds up to five attributes to
	// a span. Default false.
	Record bool `mapstructure:"record"`

	// ContentHash adds the hash of each sealed payload to its span. Short or
	// guessable results can be found again from a plain hash, so set
	// hash_key with it. Default false.
	ContentHash bool `mapstructure:"content_hash"`

	// HashKey turns content_hash into a keyed hash (HMAC-SHA-256). Take it
	// from the environment: `${env:RESULTSEAL_HASH_KEY}`. Hashes of different
	// keys cannot be compared. Needs content_hash, or content: hash. Default none.
	HashKey configopaque.String `mapstructure:"hash_key"`

	// EvaluationEvents writes the verdicts once more as span events named
	// gen_ai.evaluation.result, for backends that read the GenAI
	// conventions. Default false.
	EvaluationEvents bool `mapstructure:"evaluation_events"`
}

// TelemetryConfig bounds the processor's own metrics.
type TelemetryConfig struct {
	// MaxTools is how many different tool names the metrics tell apart; the
	// names met after that are counted together as `_other`. Tool names come
	// from outside, so keep this low enough for your metrics backend.
	// Default 200.
	MaxTools int `mapstructure:"max_tools"`
}

// Mode says which spans wait for their trace.
type Mode string

// The values of Mode.
const (
	ModeTrace  Mode = "trace"
	ModeStream Mode = "stream"
)

// ContentMode says what becomes of tool results after they were sealed.
type ContentMode string

// The values of ContentMode.
const (
	ContentKeep ContentMode = "keep"
	ContentHash ContentMode = "hash"
	ContentDrop ContentMode = "drop"
)

var (
	_ component.Config    = (*Config)(nil)
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

func createDefaultConfig() component.Config {
	retry := configretry.NewDefaultBackOffConfig()
	retry.InitialInterval = time.Second
	return &Config{
		Mode: ModeTrace,

		PolicyReloadInterval: 30 * time.Second,
		RootDelay:            2 * time.Second,
		IdleTimeout:          10 * time.Second,
		MaxAge:               5 * time.Minute,
		MaxTraces:            50_000,
		MaxBytes:             256 << 20,
		MaxSpansPerTrace:     100_000,
		DecidedCache:         100_000,
		MaxSessions:          100_000,
		MaxSessionBytes:      64 << 10,
		SessionTTL:           time.Hour,
		MaxClockSkew:         time.Minute,
		Retry:                retry,
		Prefix:               "resultseal.",
		Telemetry:            TelemetryConfig{MaxTools: 200},
		Content:              ContentKeep,
	}
}

// Unmarshal reads the configuration and keeps the policy's text where there
// is one.
//
// For `policy: ${file:policy.yaml}` the collector holds both the parsed map
// and the text that it was parsed from, and hands out the text to fields of
// type string. A policy in place has no text any more. A file that is not
// valid YAML reaches us as a string and only as that; it is kept as text, so
// that Validate can say where it breaks.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	var source struct {
		Policy string `mapstructure:"policy"`
	}
	inPlace, isMap := conf.Get("policy").(map[string]any)
	switch {
	case conf.Get("policy") == nil:
	case conf.Unmarshal(&source, confmap.WithIgnoreUnused()) == nil:
		c.policyText = source.Policy
	case !isMap:
		return errors.New("policy must be a map of contracts and protocols, or ${file:path} of a file that holds one")
	}
	// The field is a map: as Get gives it, with the values of nested ${…}
	// instead of the collector's own type for them, and nil where there is
	// only text. conf is ours alone, made for this call.
	if conf.Delete("policy") {
		c.Policy = inPlace
	}
	return conf.Unmarshal(c)
}

var prefixForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*[._]$`)

// Validate checks every setting and loads the policy, so that a collector
// does not start on one that is wrong. All errors are reported, not only the
// first.
func (c *Config) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	if c.Mode != ModeTrace && c.Mode != ModeStream {
		refuse("mode must be trace or stream, got %q", string(c.Mode))
	}
	if c.PolicyReloadInterval < 0 {
		refuse("policy_reload_interval must not be negative, got %v", c.PolicyReloadInterval)
	}
	if c.RootDelay < 0 {
		refuse("root_delay must not be negative, got %v", c.RootDelay)
	}
	if c.IdleTimeout <= 0 {
		refuse("idle_timeout must be more than 0, got %v", c.IdleTimeout)
	}
	if c.MaxAge <= 0 {
		refuse("max_age must be more than 0, got %v", c.MaxAge)
	} else if c.RootDelay > c.MaxAge {
		refuse("root_delay must not be above max_age (%v), which completes the trace before, got %v", c.MaxAge, c.RootDelay)
	}
	if c.NumShards < 0 {
		refuse("num_shards must not be negative, got %d", c.NumShards)
	}
	if c.MaxTraces < 1 {
		refuse("max_traces must be 1 or more, got %d", c.MaxTraces)
	}
	if c.MaxBytes < 1 {
		refuse("max_bytes must be 1 or more, got %d", c.MaxBytes)
	}
	if c.MaxSpansPerTrace < 0 {
		refuse("max_spans_per_trace must not be negative, got %d", c.MaxSpansPerTrace)
	}
	if c.DecidedCache < 0 {
		refuse("decided_cache must not be negative, got %d", c.DecidedCache)
	}
	if c.MaxSessions < 0 {
		refuse("max_sessions must not be negative, got %d", c.MaxSessions)
	}
	if c.MaxSessionBytes < 1024 {
		refuse("max_session_bytes must be 1024 or more, got %d", c.MaxSessionBytes)
	}
	if c.MaxClockSkew < 0 {
		refuse("max_clock_skew must not be negative, got %v", c.MaxClockSkew)
	}
	if c.SessionTTL <= 0 {
		refuse("session_ttl must be more than 0, got %v", c.SessionTTL)
	}
	if !prefixForm.MatchString(c.Prefix) {
		refuse("prefix must be letters, digits, '_', '.' and '-', begin with a letter and end with '.' or '_', got %q", c.Prefix)
	}
	if c.Telemetry.MaxTools < 1 {
		refuse("telemetry::max_tools must be 1 or more, got %d", c.Telemetry.MaxTools)
	}
	if c.Annotations.HashKey != "" && !c.Annotations.ContentHash && c.Content != ContentHash {
		refuse("annotations::hash_key needs annotations::content_hash: true or content: hash")
	}
	switch c.Content {
	case ContentKeep, ContentHash, ContentDrop:
	default:
		refuse("content must be keep, hash or drop, got %q", string(c.Content))
	}
	if c.ContentArguments && c.Content == ContentKeep {
		refuse("content_arguments needs content: hash or drop")
	}
	if options, err := c.decoding(); err != nil {
		errs = append(errs, err)
	} else if names := options.Under(c.Prefix); c.Prefix != "" && len(names) > 0 {
		refuse("prefix %q covers %s, which is read from the spans; everything under the prefix is removed, so use one under which nobody else writes", c.Prefix, names[0])
	}
	if _, _, err := c.loadPolicy(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// decoding says what is looked for in spans.
func (c *Config) decoding() (genai.Options, error) {
	return genai.Settings{
		Dialects: c.Dialects, ConversationAttributes: c.ConversationAttributes,
		ConversationResourceAttributes: c.ConversationResourceAttributes,
	}.Options()
}

// assembling returns the settings of the shards.
func (c *Config) assembling(rec *recorder) assemble.Settings {
	return assemble.Settings{
		Shards: c.shards(),
		Stream: c.Mode == ModeStream,
		Limits: assemble.Limits{
			RootDelay:    c.RootDelay,
			IdleTimeout:  c.IdleTimeout,
			MaxAge:       c.MaxAge,
			MaxTraces:    c.MaxTraces,
			MaxBytes:     c.MaxBytes,
			DecidedCache: c.DecidedCache,
			MaxSpans:     c.MaxSpansPerTrace,
		},
		Recorder: rec,
	}
}

// scoring completes the settings of scoring.
func (c *Config) scoring(o genai.Options, s scoring.Settings) scoring.Settings {
	s.Shards = c.shards()
	s.Stream = c.Mode == ModeStream
	s.Decoding = o
	s.Annotations = annotate.Options{
		Prefix:           c.Prefix,
		ContentHash:      c.Annotations.ContentHash,
		HashKey:          string(c.Annotations.HashKey),
		Record:           c.Annotations.Record,
		EvaluationEvents: c.Annotations.EvaluationEvents,
	}
	s.Content = scoring.Content{
		Drop: c.Content == ContentDrop, Hash: c.Content == ContentHash, HashKey: string(c.Annotations.HashKey), Arguments: c.ContentArguments,
	}
	// The states of conversations take at most half of max_bytes, so that spans are
	// buffered however many there are, and spans evict no state.
	s.Conversations = conversations.Limits{Sessions: c.MaxSessions, Bytes: c.MaxBytes / 2, StateBytes: c.MaxSessionBytes, TTL: c.SessionTTL}
	s.MaxAge, s.MaxClockSkew, s.Retry = c.MaxAge, c.MaxClockSkew, c.Retry
	return s
}

// shards is the number of shards.
func (c *Config) shards() int {
	if c.NumShards > 0 {
		return c.NumShards
	}
	return runtime.GOMAXPROCS(0)
}

// loadPolicy compiles the policy from wherever the configuration has it. For
// policy_file it also returns the content of the file.
func (c *Config) loadPolicy() (p *policy.Policy, content []byte, err error) {
	if p, content, err = c.readPolicy(); err == nil {
		err = c.checkPolicy(p)
	}
	if err != nil {
		return nil, nil, err
	}
	return p, content, nil
}

// loadPolicyFile compiles the content of policy_file.
func (c *Config) loadPolicyFile(content []byte) (*policy.Policy, error) {
	p, err := policy.Load(c.PolicyFile, content)
	if err == nil {
		err = c.checkPolicy(p)
	}
	return p, err
}

// checkPolicy refuses a policy that reads attributes under the prefix: they are
// removed before.
func (c *Config) checkPolicy(p *policy.Policy) error {
	if c.Prefix == "" {
		return nil
	}
	for _, name := range slices.Concat(p.AttributeNames()) {
		if strings.HasPrefix(name, c.Prefix) {
			return fmt.Errorf("the policy reads the attribute %s, which is under the prefix %q; to read the verdicts of another resultseal processor, give that one a prefix of its own", name, c.Prefix)
		}
	}
	return nil
}

func (c *Config) readPolicy() (p *policy.Policy, content []byte, err error) {
	inPlace := c.policyText != "" || c.Policy != nil
	switch {
	case inPlace && c.PolicyFile != "":
		return nil, nil, errors.New("policy and policy_file exclude each other: remove one")
	case c.policyText != "" && !strings.ContainsAny(c.policyText, ":\n"):
		return nil, nil, errors.New("policy is neither a map nor the text of one; to read a file use policy_file, or ${file:path}")
	case c.policyText != "":
		// The collector does not tell which file it was.
		p, err = policy.Load("policy", []byte(c.policyText))
	case c.Policy != nil:
		p, err = policy.LoadMap("policy", c.Policy)
	case c.PolicyFile != "":
		if content, err = readPolicyFile(c.PolicyFile); err != nil {
			return nil, nil, fmt.Errorf("policy_file cannot be read: %w", err)
		}
		p, err = policy.Load(c.PolicyFile, content)
	default:
		return nil, nil, errors.New("a policy is required: set policy, for example to ${file:policy.yaml}, or policy_file")
	}
	if err != nil {
		// On lines of their own, so that a caret stands under what it points to.
		return nil, nil, fmt.Errorf("the policy is not valid:\n%w", err)
	}
	return p, content, nil
}
