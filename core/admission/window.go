package admission

import (
	"time"

	"hyperscale/core/node"
)

// window counts the requests of one source and operation over a sliding span. It knows two
// whole spans, and assumes that those of the previous one lay evenly:
//
//	effective = current + previous x (1 - progress)
//
// The error against an exact log is therefore at most the previous span's count, and zero if
// they did lie evenly.
type window struct {
	span     int64 // number of the current span
	current  int32
	previous int32
}

// at moves the window to an instant, and returns how much of its span has passed.
func (w *window) at(now node.Instant, span time.Duration) time.Duration {
	number := int64(now) / int64(span)
	switch number - w.span {
	case 0:
	case 1:
		w.previous, w.current = w.current, 0
	default:
		w.previous, w.current = 0, 0
	}
	w.span = number
	return time.Duration(int64(now) % int64(span))
}

// wait returns how long until one more request is within the limit, and zero if it is now.
func (w *window) wait(now node.Instant, span time.Duration, limit int) time.Duration {
	passed := w.at(now, span)
	if room := int64(limit) - 1 - int64(w.current); room >= 0 {
		return max(0, shrinks(int64(w.previous), room, span)-passed)
	}
	return span - passed + shrinks(int64(w.current), int64(limit)-1, span)
}

// shrinks returns how much of a span passes until a previous span's count weighs at most room.
func shrinks(count, room int64, span time.Duration) time.Duration {
	if count <= room {
		return 0
	}
	return span - time.Duration(int64(span)/count*room+int64(span)%count*room/count)
}

func (w *window) add() { w.current++ }
