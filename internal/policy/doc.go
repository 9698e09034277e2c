// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

/*
Package policy reads the policy file: what a result must contain, in which order
an agent may act, and which facts are the events of that order. A file is read,
checked and compiled once; what comes out is immutable and is only asked.

This comment is the manual of the file format.

# The file

One YAML document in UTF-8, at most 4 MiB, a mapping with these keys, all
optional:

	schema_version:  1, the version of this format. Default: 1. Any other is an error.
	contracts:       a list; see Contracts
	protocols:       a list; see Protocols
	acknowledge:     a list; see Acknowledged warnings

	contracts:
	  - name: customer-found
	    severity: critical
	    description: Sales promises nothing to customers that the CRM does not have.
	    owner: team-crm
	    runbook: https://wiki.example.com/runbooks/customer-found
	    match:
	      tools: [search_customer, "crm_*"]
	      agents: ["support-*"]
	    claim_type: found
	    required_fields: [customer_id, name]
	    freshness: {mode: source_version}
	    min_source_version: revision-12
	    source_ref: crm://customers
	    target_ref: "customer:{arguments.id}"
	    observation:
	      payload: $.data.customer
	      source_ref: "crm://{result.origin}"
	      target_ref: "customer:{result.customer_id}"
	      source_version: "{result.revision}"
	protocols:
	  - name: booking
	    match: {agents: [booking-agent]}
	    protocol: "!Search.?Results.!Present.?Approval.!Book.?Confirmation.end"
	    require_completion: true
	    events:
	      - {label: Search, event: tool_call, tools: [search_flights]}
	      - {label: Results, event: tool_result, tools: [search_flights], decision: sealed}
	      - {label: Approval, event: user_message, turn: later, text: '(?i)\b(yes|go ahead)\b'}
	      - {label: Unrecognized, event: user_message}
	      - {label: Present, event: agent_message}
	      - {label: Book, event: tool_call, tools: [book_flight]}
	      - {label: Confirmation, event: tool_result, tools: [book_flight]}

A key that is not known, one that stands twice and a value of another type are
errors. Texts that YAML reads as something else (12, true, null, 2026-01-31) are
put in quotes. true and false are the only booleans; yes and no are texts. null
is taken for a key that is left out where this manual says "or null", and under
contracts and protocols; elsewhere it is an error, and so is an empty list or
mapping that would match nothing.

Anchors, aliases and merge keys (<<) may be used; the keys of a mapping win over
merged ones, and an earlier merged mapping over a later. What aliases repeat is
bounded.

# Contracts

	name                      required. Unique, 1 to 256 characters; goes on spans and metrics.
	severity, description,    see Metadata
	owner, runbook
	acknowledge               see Acknowledged warnings
	match                     what it applies to. Default: every call.
	  tools                     globs over the tool's name
	  agents                    globs over the agent's name
	  services                  globs over service.name
	schema_version            "1". Default: "1".
	claim_type                required: found, not_found, read_complete, effect_observed, task_complete
	required_fields           required: a list of names, which may be empty
	freshness                 required
	  mode                      required: not_required, source_version, max_age_seconds
	  max_age_seconds           0 to 31536000, or null; required by that mode and refused by the others
	min_source_version        a text, or null. Default: null. Required by the mode source_version.
	source_ref                required: a template
	target_ref                required: a template
	not_found_sentinel        a text, or null. Default: null.
	effect_evidence_required  true or false. Default: false.
	observation               how the result is read; see below. Default: every key at its default.

All lists of a match must hold, and a list holds if one of its globs does. A glob
is held against the empty text where a span has no agent, or no service.name.

All contracts that match a call are tried in the order of the file. The first
that seals is the verdict, else the first that matched.

The ranges and lengths are those of the sealing semantics (package engine), which
checks them. The limit of 1,024 characters for source_ref and target_ref holds
for the template, and again for what it renders.

# Metadata

Keys of contracts and of protocols, all optional, for the people who get to see
the verdicts. They change no verdict.

	severity     info, warning, critical. Default: warning. Of a result that the contract blocks, or of a
	             session that does not follow the protocol. A label of the metrics; the level in SARIF.
	description  at most 4,096 characters, on one or several lines
	owner        a person or a team, at most 256 characters
	runbook      an absolute URL with the scheme http or https, at most 2,048 characters

Reports show them beside what is wrong: SARIF as the level, the help and the help
URI of the rule, JUnit as properties of the test case, the HTML report and the
JSON report by the name of the contract or protocol.

# Observations

	kind            auto, json, text, http_json, mcp, stdio, yaml. Default: auto, by what the result looks like.
	payload         a JSONPath into the parsed result, or null. Default: null, the whole result.
	source_ref      a template, or null. Default: null, the contract's own.
	target_ref      a template, or null. Default: null, the contract's own.
	source_version  a template, or null. Default: null, absent.
	observed_at     a template, or null. Default: null, the end of the call's span.
	clock_skew      a duration: 2s, 500ms, 1m30s. Default: 0s. An observed_at ahead of the clock by no more counts as now.
	evidence_refs   a list of at most 64 templates. Default: none.

Where observation has no ref, the contract's own is used on both sides, so that
nothing is checked there.

A template that finds nothing: in the contract's own refs the claim cannot be
bound and is blocked, and missing_fields names what it looked for (arguments.tank);
in the refs of the observation it is a mismatch; a source_version, an observed_at
and an evidence ref are then absent. Where the result is a text, an observation ref
that reads a member of it is PARSE_FAILED and no mismatch.

Refs are compared as texts. Where both are templates with several placeholders and
the same text between them, each value is compared with its counterpart: a/b and c
are not a and b/c.

In the kinds auto, text and mcp, a text that is blank, None, null, undefined or nil
is an empty payload, unless it is the contract's not_found_sentinel: tools write so
that they have nothing to return. The structure of an MCP result whose only member
is result is that member.

# Protocols

	name                required. Unique, 1 to 256 characters.
	severity, description, owner, runbook
	                    see Metadata
	acknowledge         see Acknowledged warnings
	match               which sessions it follows. Default: all.
	  agents              globs over the agent's name
	  services            globs over service.name
	session             trace, conversation. Default: trace. What one set of monitors follows.
	protocol            the protocol, in the language of package session. Either this or states is required.
	states              the protocol as a state machine
	  initial             required: a state
	  terminal            required: a list of states, which may be empty
	  transitions         required: a list, which may be empty, of
	    from                required: a state
	    event               required: "!label" or "?label"
	    to                  required: a state
	    when                guards, separated by commas: path == p, mode != "append". Default: none.
	    bind                bindings, separated by commas: path as p. Default: none.
	parallel_calls      interleave, serialize. Default: interleave. Calls that overlap give !a !b ?a ?b as they
	                    happened, or each call and its result as a pair, ordered by the call's start.
	unmatched           ignore, unrecognized, violation. Default: ignore. What an event is that no rule names.
	after_end           ignore, violation. Default: ignore. What an event after a finished protocol is.
	require_completion  true or false. Default: false. A session that ends before a terminal state is incomplete.
	                    The protocol then has a verdict, incomplete or compliant, also where none of its events occurred.
	                    Without it, such a protocol is unjudged.
	assume_complete     true or false. Default: false. Telemetry is known to be whole, so that a missing parent or
	                    root caps no verdict. What a processor itself may have missed still does.
	events              the projection, a list of rules. Default: !name and ?name for each call of a tool, see
	                    DefaultLabel; so is the empty list.

In a protocol without transitions (protocol: end, or transitions: []) no event is
legal. With after_end: violation, or an initial state that is not terminal, every
event is a violation. Otherwise the protocol would ignore every event, which is an
error.

# Event rules

The first rule that matches a fact names its event.

	label        required: a label of the protocol language, or a template that renders one; Unrecognized is the sentinel
	event        required: tool_call, tool_result, user_message, agent_message, span
	direction    send, receive. Default: send for tool_call, agent_message and span, receive for the others.
	agents       globs over the agent's name. Default: any.
	services     globs over service.name. Default: any.

	tools        tool_call, tool_result: globs over the tool's name. Default: any.
	arguments    tool_call, tool_result: a mapping of path to glob. Default: any.
	result       tool_result: a mapping of path to glob. Default: any.
	decision     tool_result: sealed, blocked. Default: any, or none.
	truth_state  tool_result: one of the eleven truth states. Default: any, or none.
	contract     tool_result: the name of the contract that gave the verdict. Default: any, or none.

	text         user_message, agent_message: a regular expression (RE2) that is found in the text.
	             Default: any. Its named groups, each name once, become the payload.
	turn         user_message: first, later, any. Default: any. The first opens the session.
	tool_calls   agent_message: none, some, any. Default: none, messages that call no tool.
	             A message without text that calls tools is an event for some and any only.

	name         span: a glob over the span's name. Default: any.
	attributes   span: a mapping of attribute to glob. Default: any.
	at           span: start, end. Default: start.

A key under another event than those before its colon is an error. A mapping
holds if every entry does, an entry if its path selects a scalar that the glob
matches; of several selected values one is enough. Numbers and booleans are held
against the glob in canonical form: 1.0, true.

The guards and bindings of a protocol read an event's payload: the arguments of a
tool_call, the result of a tool_result, the named groups of a message's text. A
span event has no payload: a span rule for an event whose payload the protocol
reads is an error. A span's start and its end are two facts.

A template for a label must read only what is known when the event happens: no
result for a tool_call, no arguments, result or tool for messages and spans. If
it finds nothing, the rule does not match. What it renders is made a label as
DefaultLabel does it. A label that was rendered from arguments, a result or
attributes, and that the protocol does not have, is content: its length is
reported in its place, as in !‹13 characters›.

# Globs

	?        one character
	*        any run of characters, dots, slashes and line ends included
	[abc]    one of these; [a-z0-9] of these ranges; [!a] any other
	{a,b*}   either pattern, which may be empty and may nest
	\c       the character c as it is

A glob is held against the whole text. Upper and lower case differ.

# Templates

	{path}   the value at a path
	{{ }}    one brace each

A path is a root and steps. The roots are arguments, result (what payload
selected), attributes (of the span), resource (its attributes), and the texts
tool.name, tool.call_id, agent.name, conversation.id, span.name, span.id,
trace.id, which take no steps. The steps are .name (a letter or underscore, then
letters, digits, underscores and hyphens), ["any name"] with the escapes of JSON
in either quotes, and [0], an index from 0. There is no white space in a path.

Names of attributes hold dots, so attributes.a.b reads the attribute a.b, and if
there is none, the member b of the attribute a.

A value must be a scalar. Texts stand as they are, numbers and booleans in
canonical form.

# Paths

payload is a JSONPath query (RFC 9535): it starts with $. No node is an empty
payload, one is that value, several are a list in the order of RFC 9535, the
members of an object in the order of the document. Values keep every digit; only
the comparisons of filters see numbers as 64-bit floats. A query that would touch
more than 1,048,576 values selects nothing.

The paths of arguments and result in event rules are such queries, or short forms
without the $: cabin, passengers[0].name, ["any name"].

Globs, templates, paths and regular expressions are at most 4,096 bytes long.

# Hashes

Policy.Hash identifies the content of a policy. It is "sha256:" and the SHA-256, in
hex, of the policy's data as JSON with sorted keys and without white space. These do
not change it: comments, layout, the order of keys, anchors and merge keys against
what they stand for, a key whose value is null, schema_version: 1, and whether the
policy is read from a file or stands in the collector's configuration. A key that is
written with its default value does. Every verdict carries the hash.

Protocol.Hash identifies what decides the events and the steps of one protocol: all
of its keys but those that describe it, with its automaton in place of protocol or
states. If one of its event rules reads decision, truth_state or contract, the
contracts are part of it. The state of a conversation belongs to this hash: a
protocol whose hash changes begins anew.

# Errors and warnings

Load reports every error of a file, up to 20, each with file, line, column (in
characters), path, and an excerpt with a caret. In the small languages the caret
is under the character that is wrong, except where YAML's way of writing the text
hides where that is (a folded text, quotes over several lines); there the place
is the start of the text, and an error in a protocol brings its own excerpt.

A warning reports what is legal and has an effect that an author may not expect:
a result whose source or target nothing checks, a contract that always blocks, a
label that the protocol does not have, an event that no rule gives. Each warning
has a stable kind, shown as warning [unchecked-source]. The kinds are listed in
docs/warnings.md, the most serious first, which is also the order in which
warnings are shown. Repeated ones are folded: the first in full, the others by
their lines. Of a file with more than 1,000 warnings, 1,000 are kept.

# Acknowledged warnings

A warning that an author has seen is acknowledged where it belongs: on its
contract or protocol, or at the top level if it is about neither. It is then
counted and not shown.

	contracts:
	  - name: stock
	    match: {tools: [lookup_stock]}
	    claim_type: found
	    required_fields: [sku, quantity]
	    freshness: {mode: not_required}
	    source_ref: shop://stock
	    target_ref: "sku:{arguments.sku}"
	    observation: {target_ref: "sku:{result.sku}"}
	    acknowledge:
	      - {kind: unchecked-source, reason: one warehouse answers, expires: 2027-01-31}
	acknowledge:
	  - {kind: unjudged-tool, tools: [think], reason: it returns what it was given}

	kind     required: a kind of docs/warnings.md; every warning of this kind here is acknowledged
	reason   required: at most 1,024 characters on one line
	expires  the last day, in UTC, on which the warning is not shown. Default: none.
	tools    globs over the tool's name, for kinds about a tool: unjudged-tool, uncontracted-tool. Default: any.

An acknowledgement without a reason and one of an unknown kind are errors. One
that matches no warning is a warning of the kind unused-acknowledgement; for
kinds that only traces show, validate --against reports it. Verdicts do not
depend on acknowledgements.
*/
package policy
