package swim

import (
	"cmp"
	"math"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// class orders news: new members first, deaths last.
type class uint8

const (
	classJoin class = iota
	classLeave
	classRestart
	classAlive
	classSuspect
	classDead
)

func classOf(s State) class {
	switch s {
	case Left:
		return classLeave
	case Suspect:
		return classSuspect
	case Dead:
		return classDead
	}
	return classAlive
}

// piece is news of one member, to be sent a number of times. Its content is read when it is
// sent: later news of a member replace earlier ones.
type piece struct {
	place uint32
	class class
	sends uint16
	whole bool   // with address and role, which some members do not know yet
	least uint16 // lower bound of its bytes, which grow only by its age until the news are queued again
	born  uint64
}

// buffer holds the news to send. The first piece in the order of compare is the last one of pieces:
// a list of thousands of joined members adds each at the end, and moves none.
type buffer struct {
	pieces []piece // in the reverse order of compare, always
	births uint64
	armed  bool // the timer of gossip is set
	least  int  // no piece has fewer bytes: the minimum since the buffer was empty

	sent  []piece // of the current letter, in order; the next one reuses their memory
	spots []int   // where these lie in pieces
}

// find returns the index of a place's piece.
func (b *buffer) find(place uint32) int {
	return slices.IndexFunc(b.pieces, func(p piece) bool { return p.place == place })
}

// put inserts a piece.
func (b *buffer) put(p piece) {
	b.pieces = slices.Insert(b.pieces, behind(b.pieces, p), p)
}

// take removes a piece and returns it.
func (b *buffer) take(at int) piece {
	p := b.pieces[at]
	if at == 0 {
		b.pieces = b.pieces[1:] // a full buffer drops what is last in order, again and again
	} else {
		b.pieces = slices.Delete(b.pieces, at, at+1)
	}
	return p
}

// known returns the index of the piece that was sent most often, the last in order of several.
func (b *buffer) known() int {
	best := 0
	for at := 0; at < len(b.pieces); {
		p, q := &b.pieces[at], &b.pieces[best] // p is of its class the one that was sent most often
		if cmp.Or(cmp.Compare(p.sends, q.sends), compare(*p, *q)) > 0 {
			best = at
		}
		at = behind(b.pieces, piece{class: p.class, born: math.MaxUint64})
	}
	return best
}

// settle restores the order after a letter: sent lie at spots no more. A letter holds few of many
// pieces, so settle moves the others in whole runs.
func (b *buffer) settle() {
	if len(b.spots) == 0 {
		return
	}
	left := b.spots[len(b.spots)-1]
	for k := len(b.spots) - 1; k >= 0; k-- {
		end := len(b.pieces)
		if k > 0 {
			end = b.spots[k-1]
		}
		left += copy(b.pieces[left:], b.pieces[b.spots[k]+1:end])
	}
	at := len(b.pieces)
	for _, p := range b.sent {
		n := behind(b.pieces[:left], p)
		at -= left - n
		copy(b.pieces[at:], b.pieces[n:left])
		left = n
		at--
		b.pieces[at] = p
	}
}

// behind returns how many pieces of an ordered list another one precedes, most often all.
func behind(pieces []piece, p piece) int {
	if last := len(pieces) - 1; last < 0 || compare(pieces[last], p) >= 0 {
		return len(pieces)
	}
	rank, low, high := p.rank(), 0, len(pieces)-1
	for low < high {
		at := int(uint(low+high) / 2)
		q := &pieces[at]
		if r := q.rank(); r < rank || r == rank && q.born > p.born {
			high = at
		} else {
			low = at + 1
		}
	}
	return low
}

// gossiper spreads changes among the members.
type gossiper struct {
	members
	health
	buffer buffer
}

// bodyMax leaves room in a datagram for its header.
const bodyMax = message.DatagramBody

// tell puts news of a member into the buffer; a full one drops what was sent most often.
func (g *gossiper) tell(env node.Env, i uint32, c class) {
	b := &g.buffer
	b.births++
	fresh := piece{place: i, class: c, whole: c == classJoin || c == classRestart, born: b.births}
	r := &g.table.records[i]
	switch {
	case r.queued:
		old := b.take(b.find(i))
		fresh.whole = fresh.whole || old.whole
	case len(b.pieces) >= g.config.GossipMax:
		g.table.records[b.take(b.known()).place].queued = false
	}
	n := g.newsOf(env.Now(), i, fresh.whole)
	fresh.least = uint16(n.Bytes())
	if len(b.pieces) == 0 || int(fresh.least) < b.least {
		b.least = int(fresh.least)
	}
	b.put(fresh)
	r.queued = true
	if !b.armed {
		b.armed = true
		env.SetTimer(node.Key(node.PartSwim, node.SwimGossip), g.config.GossipInterval)
	}
}

// echoMax bounds the buffers in which a search for echoes runs: beyond it only the buffer's own
// bounds empty it.
const echoMax = 64

// echo counts a suspicion as sent when this node hears it while it waits: its sender knows it,
// and it is heard the more often the more members know it. All other news are sent in full: a
// missed refutation kills, and verdicts are rare.
func (b *buffer) echo(r *record, i uint32, s State) {
	if !r.queued || s != Suspect || r.state != Suspect || len(b.pieces) > echoMax {
		return
	}
	p := b.take(b.find(i))
	p.sends++
	b.put(p)
}

// hush drops the waiting news of a member, so that this node sends none of it.
func (g *gossiper) hush(i uint32) {
	if r := &g.table.records[i]; r.queued {
		g.buffer.take(g.buffer.find(i))
		r.queued = false
	}
}

// retell sends a suspicion to a few more members at half of its shortest time. If the suspect
// refuted it, and only this node missed that, one of them answers so.
func (g *gossiper) retell(env node.Env, i uint32) {
	if g.table.records[i].queued {
		return
	}
	g.tell(env, i, classSuspect)
	p := g.buffer.take(g.buffer.find(i))
	p.sends = uint16(max(0, sendsMax(g.config.GossipFactor, g.live)-g.config.GossipFanout))
	g.buffer.put(p)
}

// compare orders pieces: class, then fewest sends, then newest.
func compare(a, b piece) int {
	if x, y := a.rank(), b.rank(); x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(b.born, a.born)
}

// rank returns the order of pieces without their age.
func (p *piece) rank() uint32 { return uint32(p.class)<<16 | uint32(p.sends) }

// sized is a message to which news are added.
type sized interface{ Size() int }

// letter chooses the news that m carries to the member of a place. First it says that this node
// leaves, or that the receiver is considered gone or, with Buddy, suspect. Then follows what
// the buffer holds, as far as there is room.
func (g *gossiper) letter(env node.Env, to uint32, buddy bool, m sized) message.SwimNewsList {
	about := to
	first := g.table.records[to].state.Gone() || buddy && g.table.records[to].state == Suspect
	if g.leaving {
		about, first = 0, true
	}
	if !first && len(g.buffer.pieces) == 0 {
		return nil
	}
	room := bodyMax - m.Size() - 2 // the length of the list
	var news message.SwimNewsList
	if first {
		n := g.newsOf(env.Now(), about, false)
		if size := n.Bytes(); size <= room {
			news = append(news, n)
			room -= size
		}
	}
	return g.fill(env, news, room, parcel{1, to})
}

// parcel says how many members receive a message, and which one gets no news of itself: the
// only receiver, which knows better. Place 0 means none.
type parcel struct {
	times int
	to    uint32
}

// fill adds pieces of the buffer, and counts them as sent.
func (g *gossiper) fill(env node.Env, news message.SwimNewsList, room int, out parcel) message.SwimNewsList {
	b := &g.buffer
	if len(b.pieces) == 0 {
		return news
	}
	if news == nil {
		news = make([]message.SwimNews, 0, b.fits(room))
	}
	limits := g.limits()
	b.sent, b.spots = b.sent[:0], b.spots[:0]
	spent := false
tries:
	for at := len(b.pieces) - 1; at >= 0; at-- {
		if room < b.least {
			break // no later piece fits
		}
		p := b.pieces[at]
		own := p.place == out.to && p.place != 0
		switch {
		case own && p.class < classSuspect && g.live <= 2: // no other member needs it
		case own || p.class >= classSuspect && g.alone():
			continue
		case int(p.least) > room && room >= newsLeast: // most of a long buffer, so that the loop reads nothing else of it
			continue
		default:
			n := g.newsOf(env.Now(), p.place, p.whole)
			size := n.Bytes()
			if size > room && room < newsLeast {
				break tries
			}
			if size > room {
				continue
			}
			news = append(news, n)
			room -= size
		}
		p.sends += uint16(out.times)
		spent = spent || limits.reached(&p)
		b.sent, b.spots = append(b.sent, p), append(b.spots, at)
	}
	b.settle()
	if spent {
		b.pieces = slices.DeleteFunc(b.pieces, func(p piece) bool {
			if !limits.reached(&p) {
				return false
			}
			g.table.records[p.place].queued = false
			return true
		})
	}
	if len(news) == 0 {
		news = nil
	}
	return news
}

// joinsMany is how many pieces of news may wait until joins are sent less often.
const joinsMany = 256

// limits says how often a piece is sent at most.
type limits struct{ all, joins int }

// limits of what waits now. Where thousands join at once, each member learns of all and repeats each:
// the square of them, for minutes. Joins are sent less often then, as all members send the same ones,
// and comparisons of lists reach who missed one.
func (g *gossiper) limits() limits {
	all := sendsMax(g.config.GossipFactor, g.live)
	return limits{all, max(1, all*joinsMany/max(joinsMany, len(g.buffer.pieces)))}
}

func (l limits) of(c class) int {
	if c == classJoin || c == classRestart {
		return l.joins
	}
	return l.all
}

func (l limits) reached(p *piece) bool { return int(p.sends) >= l.of(p.class) }

// newsLeast is about the size of the shortest news: with less room fill tries none.
const newsLeast = 8

// fits returns about how many pieces fit into a letter with that room.
func (b *buffer) fits(room int) int {
	for at := len(b.pieces) - 1; at >= 0; at-- {
		if room -= int(b.pieces[at].least); room < b.least {
			return len(b.pieces) - at
		}
	}
	return len(b.pieces)
}

// onGossip sends only news to a few members, until there are none.
func (g *gossiper) onGossip(env node.Env) {
	b := &g.buffer
	b.armed = false
	if len(b.pieces) == 0 {
		return
	}
	if !g.urgent() {
		// The rest goes with probes and answers.
	} else if to := g.some(env.Rand(node.PurposeProbe), g.config.GossipFanout, 0); len(to) > 0 {
		m := &message.SwimGossip{Group: g.config.Group, Incarnation: g.Incarnation()}
		m.News = g.fill(env, nil, bodyMax-m.Size()-2, parcel{times: len(to)})
		for _, i := range to {
			env.Datagram(g.table.records[i].who.Addr, m)
		}
	}
	if len(b.pieces) > 0 {
		b.armed = true
		env.SetTimer(node.Key(node.PartSwim, node.SwimGossip), g.config.GossipInterval)
	}
}

// urgent reports that a piece was sent less than a quarter as often as it may be: all others
// can wait for probes and answers.
func (g *gossiper) urgent() bool {
	limits := g.limits()
	for left := g.buffer.pieces; len(left) > 0; {
		first := left[len(left)-1] // of its class the one that was sent least often
		if 4*int(first.sends) < limits.of(first.class) {
			return true
		}
		left = left[:behind(left, piece{class: first.class + 1, born: math.MaxUint64})]
	}
	return false
}

// forget drops the waiting news of freed places.
func (b *buffer) forget(places []uint32) {
	b.pieces = slices.DeleteFunc(b.pieces, func(p piece) bool { return slices.Contains(places, p.place) })
}

// Waiting returns the number of waiting pieces of news.
func (g *gossiper) Waiting() int { return len(g.buffer.pieces) }

// correct sends one node what it has missed of a member.
func (g *gossiper) correct(env node.Env, to node.Addr, i uint32) {
	env.Datagram(to, &message.SwimGossip{
		Group: g.config.Group, Incarnation: g.Incarnation(), News: message.SwimNewsList{g.newsOf(env.Now(), i, false)},
	})
}

// confront sends a member the accusation against it, so that it can refute it.
func (g *gossiper) confront(env node.Env, i uint32) {
	g.correct(env, g.table.records[i].who.Addr, i)
}
