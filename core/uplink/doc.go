// Package uplink keeps streams to a configured list of peers standing: a worker's
// to its managers, a manager's to its gates, a member's to its fellows. It also
// posts small messages to them as datagrams.
//
// It is not a membership (core/swim) and keeps nothing for later: what is posted
// while no stream stands is dropped, and who posted it tries again. Streams that
// others open to this node are not its own; it only answers their beats
// (AnswerBeat).
//
// Source: DESIGN.md, "Jobs and fences": connections go upward, silence ends them.
//
// Invariants:
//
//	LINK-1 To one address at most one stream is open or being opened. Nothing else
//	       opens it again but the timer of a link that is closed.
//	LINK-2 An opening, like a standing stream, ends after Silence without a sign of
//	       life: Heard, Acked, or an answered beat.
//	LINK-3 The wait before the next opening doubles from ReconnectMin to ReconnectMax,
//	       each drawn from its upper half; a peer that was heard begins anew.
//	LINK-4 A link stands only with a peer of the configured role.
//
// A role hands over what belongs to a link and goes on with what does not:
//
//	case node.InputStreamOpened:
//		if l, ours := m.links.Opened(env, in); l != nil {
//			... send the first heartbeat on l.Stream
//		} else if !ours {
//			... somebody called us
//		}
//	case node.InputStreamBroken:
//		if _, ours := m.links.Broken(env, in); !ours { ... }
//	case node.InputTimer:
//		if m.links.Fire(env, in.Timer) { return }
//
// Heartbeats with data are the role's own: it counts l.Sequence up and hands the
// answer's number to Acked. Without any, Config.Beats sends message.Beat.
//
// Read config.go, links.go, post.go.
package uplink
