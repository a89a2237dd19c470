package archive

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Default returns the bounds of a member that lacks only its group.
func Default() Config {
	return Config{ChunkBytes: 128 << 10, FilesMax: 100_000, BytesMax: 1 << 30, Retry: time.Second}
}

// New returns an archive that has not started.
func New(c Config, p Poster) *Archive { return &Archive{config: c, poster: p} }

// Start loads what is on disk. Call it when the node starts.
func (a *Archive) Start(env node.Env) {}

// Keep stores a file here and at the fellows; Kept follows when a majority has it.
func (a *Archive) Keep(env node.Env, bytes []byte, ticket uint64) (d message.FileDigest) { return d }

// Fetch answers Fetched from the own disk or a fellow's, or Failed.
func (a *Archive) Fetch(env node.Env, d message.FileDigest, ticket uint64) {}

// Have returns a file that is whole on the own disk. It is not to be changed.
func (a *Archive) Have(d message.FileDigest) ([]byte, bool) { return nil, false }

// Drop forgets a file here.
func (a *Archive) Drop(env node.Env, d message.FileDigest) {}

// Sweep drops what is not in use and old enough that no record can still be on
// its way.
func (a *Archive) Sweep(env node.Env, inUse map[message.FileDigest]bool) {}

// Receive handles a message of this group, and says whether it was one.
func (a *Archive) Receive(env node.Env, from node.Peer, m node.Message) bool { return false }

// Fire handles a timer of this group.
func (a *Archive) Fire(env node.Env, k node.TimerKey) bool { return false }

// Stored handles a completion of the store.
func (a *Archive) Stored(env node.Env, in *node.Input) {}

// Take returns the outcomes since the last Take, in order.
func (a *Archive) Take() []Outcome {
	o := a.outcomes
	a.outcomes = nil
	return o
}
