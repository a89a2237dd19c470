// Package uplink keeps streams open to a list of peers, configured or found by core/discovery:
// from workers to managers, from managers to gates, and between members of a group. It also posts small messages
// to them as datagrams.
//
// It is not a membership (core/swim), and it queues nothing. While no stream is open it
// drops what is posted, and the poster tries again. It does not own streams that others open
// to this node; it only answers their beats (AnswerBeat).
//
// Source: DESIGN.md, "Jobs and fences": connections go upward, silence ends them.
//
// Invariants:
//
//	LINK-1 To one address at most one stream is open or opening. Only the timer of a
//	       closed link opens it again.
//	LINK-2 An opening, like an open stream, ends after Silence without a sign of
//	       life: Heard, Acked, or an answered beat.
//	LINK-3 The wait before the next opening doubles from ReconnectMin to ReconnectMax,
//	       each drawn from its upper half. A peer that was heard begins at ReconnectMin.
//	LINK-4 A link opens only to a peer of the configured role.
//	LINK-5 A peer answers unless it left three beats in a row unanswered. Beats of a node that
//	       was stopped itself do not count.
//	LINK-6 A candidate of discovery has a link like a configured peer. Two links never stand to
//	       one run of a node if one is a candidate's. A candidate's link ends when it breaks and no
//	       name has its address. Until it has led to a peer, its waits double up to 15 s.
//
// A role passes each input to its links first, and handles what is not theirs:
//
//	case node.InputStreamOpened:
//		if l, ours := m.links.Opened(env, in); l != nil {
//			... send the first heartbeat on l.Stream
//		} else if !ours {
//			... a peer opened a stream to us
//		}
//	case node.InputStreamBroken:
//		if _, ours := m.links.Broken(env, in); !ours { ... }
//	case node.InputTimer:
//		if m.links.Fire(env, in.Timer) { return }
//
// A role sends heartbeats with data itself: it increments l.Sequence and passes the answer's
// number to Acked. For empty ones, Config.Beats sends message.Beat.
//
// Read config.go, links.go, post.go, candidates.go.
package uplink
