package uplink

import (
	"slices"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// Waits of candidates.
const (
	candidateMax  = 15 * time.Second // a peer that was never heard: the wait doubles up to this
	candidateRest = 30 * time.Second // a second address of a node that has a link
)

// candidate is what only a link has that discovery found.
type candidate struct {
	at      node.Addr // where it opens; empty: the link is configured
	dropped bool      // no name has the address any more
}

// Find adds a link to a candidate, and opens it. Its Addr becomes the one that the peer has for
// others, once a peer has answered.
func (l *Links) Find(env node.Env, a node.Addr) {
	for _, k := range l.links {
		if k.at() == a {
			k.candidate.dropped = false
			return
		}
	}
	if a != env.Self().Addr {
		l.open(env, l.add(&Link{Addr: a, candidate: candidate{at: a}}))
	}
}

// Lose takes a candidate away that no name has any more. A link that stands stays until it
// breaks: names may err, and the peer answers.
func (l *Links) Lose(env node.Env, a node.Addr) {
	for _, k := range l.links {
		if k.candidate.at != a {
			continue
		}
		k.candidate.dropped = true
		if !k.Stands {
			if k.Stream != 0 {
				env.Close(k.Stream)
			}
			k.Stream = 0
			env.CancelTimer(l.key(node.UplinkSilence, k.index))
			env.CancelTimer(l.key(node.UplinkReconnect, k.index))
			l.lost(k)
		}
		return
	}
}

// Found returns the addresses of the peers that candidates led to, as the peers have them.
func (l *Links) Found() (all []node.Addr) {
	for _, k := range l.links {
		if k.candidate.at != "" && k.Known.ID != "" {
			all = append(all, k.Addr)
		}
	}
	return all
}

func (l *Links) add(k *Link) *Link {
	k.index = l.next
	l.next++
	l.links = append(l.links, k)
	return k
}

// at is the address that a link opens.
func (k *Link) at() node.Addr {
	if k.candidate.at != "" {
		return k.candidate.at
	}
	return k.Addr
}

// meet takes the address that the peer has for others: registers and members name it.
func (k *Link) meet(p node.Peer) {
	if k.candidate.at != "" && p.Addr != "" {
		k.Addr = p.Addr
	}
}

// twin reports whether another link to the same run of the same node stands, and one of the two
// is a candidate's: names have several addresses of one node.
func (l *Links) twin(k *Link, from node.Peer) bool {
	return slices.ContainsFunc(l.links, func(o *Link) bool {
		return o != k && o.Stands && o.Peer.ID == from.ID && o.Peer.Incarnation == from.Incarnation && (k.candidate.at != "" || o.candidate.at != "")
	})
}

// rest closes a stream to a node that has another one, and tries the address again much later.
func (l *Links) rest(env node.Env, k *Link) {
	env.Close(k.Stream)
	l.drop(env, k, "")
	if slices.Contains(l.links, k) {
		wait := retry.Backoff{Base: candidateRest, Cap: candidateRest, Kind: retry.Equal}
		env.SetTimer(l.key(node.UplinkReconnect, k.index), wait.Next(env.Rand(node.PurposeJitter), 0))
	}
}

// lost forgets a link whose candidate is gone. It leaves the list as others range over it.
func (l *Links) lost(k *Link) bool {
	if !k.candidate.dropped {
		return false
	}
	l.links = slices.DeleteFunc(slices.Clone(l.links), func(o *Link) bool { return o == k })
	return true
}

// patience is the longest wait before a link opens again. An address that has never led to a peer
// may never do.
func (l *Links) patience(k *Link) time.Duration {
	if k.candidate.at != "" && k.Known.ID == "" {
		return max(candidateMax, l.config.ReconnectMax)
	}
	return l.config.ReconnectMax
}
