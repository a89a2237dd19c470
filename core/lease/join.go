package lease

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// standing is how far a node has become a member. Values are on the wire and on disks.
type standing uint8

const (
	blank     standing = iota // no mark on its disk
	founding                  // all others were blank or founding when it asked
	member                    // it answers
	recovered                 // it answers, and its disk is the truth of a new epoch
	mute                      // its disk must not be believed; never sent
)

func (s standing) speaks() bool { return s == member || s == recovered }

// Standing names this member's standing, for operators.
func (r *membership) Standing() string {
	switch r.standing {
	case member, recovered:
		return "member"
	case founding:
		return "founding"
	}
	return "joining"
}

// peer is another member.
type peer struct {
	greeted  bool // its configuration has the same set, and this epoch
	differs  bool
	known    bool // it has answered a hail of this incarnation
	standing standing
	epoch    uint64
	said     uint64 // the epoch of its last hail as a member; 0 before
	hailed   node.Instant
}

// membership founds and joins the group, and makes this member's disk count.
type membership struct {
	*acceptor
	*proposer
	*reader

	post      Poster
	peers     []peer
	joining   *joining
	recovery  *recovery
	nonce     uint64      // of this incarnation's hails
	lostTold  int         // lost disks at the last alarm
	restarted members     // whose word has restarted a join of this incarnation
	strangers []node.Addr // outside of the set; this member rejects each once
	rumors    rumors
	holders   members // others whose last hail told this member's set, which changed, from a disk that counts
}

// Start begins an incarnation; only while InputStart is handled.
func (r *membership) Start(env node.Env) {
	r.life = message.LeaseLife{Incarnation: env.Self().Incarnation, Salt: env.Rand(node.PurposeLease).Uint64()}
	r.nonce = env.Rand(node.PurposeLease).Uint64() | 1
	m, found, err := r.load(env)
	if was := standing(m.Standing); err != nil || found && (was > recovered || was != blank && len(m.Generations) != len(m.Members)) {
		reached(env, "lease/torn")
		env.Emit(event.StoreFailed{What: "lease registers of " + r.c.Group, Err: fmt.Sprintf("the disk is taken for lost: %v", err)})
		m, found = record.Member{}, false
	}
	was := standing(m.Standing)
	r.epoch, r.target, r.unknown = m.Epoch, was, m.Unknown
	r.floor.raise(m.Floor)
	if at := r.level.Open(&m); at > env.Self().Minor {
		r.becomeMute(env, "this disk has level %s, and this node is of version %s: start version %s or newer", message.VersionText(at), message.VersionText(env.Self().Minor), message.VersionText(at))
		return
	} else if at > 0 {
		env.Emit(event.GroupLevel{Group: r.c.Group, Level: at})
	}
	same := slices.Equal(m.Members, r.names)
	switch {
	case !found || was < member:
		r.restartBlank(env, m, same)
	case r.c.Recover:
		r.startRecovery(env, m, same)
	case !same:
		r.becomeMute(env, "the disk is of a member of %s, the configured set is %s: restore the set, or recover with the new one",
			strings.Join(m.Members, ","), strings.Join(r.names, ","))
		return
	default:
		copy(r.gens, m.Generations)
		r.becomeMember(env, was, "restarted")
	}
	r.hailAll(env)
	r.judge(env)
}

// restartBlank starts a node that is not a member yet. It erases what an unfinished join has
// left on the disk.
func (r *membership) restartBlank(env node.Env, m record.Member, same bool) {
	r.forgetAll()
	r.writes.keys = r.keysOnDisk(env)
	r.erase(env)
	if same && len(m.Generations) == r.n {
		copy(r.gens, m.Generations)
	}
	r.standing = blank
	if same && standing(m.Standing) == founding {
		r.standing = founding
	}
	r.target = r.standing
	if r.c.Recover {
		r.alarm(env, "this member's disk is empty, so that nothing can be recovered from it: start one that kept its disk with recover", nil)
	}
}

func (r *membership) becomeMember(env node.Env, s standing, how string) {
	r.standing, r.target, r.rumors = s, s, nil // of strangers, too, while this node was blank
	r.began = env.Now()
	env.Emit(event.GroupJoined{Group: r.c.Group, Generation: r.gens[r.self], How: how})
	r.tell(Outcome{Kind: Ready})
	for _, reg := range r.sorted() {
		r.watchOver(env, reg)
		if a := &reg.accepted; how == "restarted" && !reg.reaped && !a.Released && a.Token.Ordinal == r.ordinal(r.self) {
			r.tell(Outcome{Kind: Vacant, Job: reg.job, Token: a.Token, Holder: r.c.Self, Record: a.Record, Vacancy: Vacancy{Mine: true}})
		}
		if reg.reaped {
			r.sweepLater(env, r.c.TombstoneAge/8)
		}
	}
	if r.tombs.Len() > 0 {
		r.sweepLater(env, r.c.TombstoneAge/8)
	}
}

// becomeMute makes this member silent for good: an operator has to act.
func (r *membership) becomeMute(env node.Env, format string, args ...any) {
	r.standing = mute
	r.alarm(env, fmt.Sprintf(format, args...), nil)
}

// hailAll sends hails to the peers whose answers are still missing.
func (r *membership) hailAll(env node.Env) {
	again := false
	for i := range r.peers {
		p := &r.peers[i]
		if i == r.self || p.greeted && p.known && r.standing == member {
			continue
		}
		again = true
		r.hail(env, i, 0)
	}
	if !again && r.recovery == nil { // a lone member hails no peer, and its guard has to run out
		return
	}
	wait := env.Rand(node.PurposeLease).Duration(r.c.RetryMin, r.c.RetryMax)
	if r.standing == member {
		wait = max(wait, r.c.AttemptTimeout) // no founding or join waits for it
	}
	env.SetTimer(node.Key(node.PartLease, node.LeaseHail), wait)
}

func (r *membership) hail(env node.Env, to int, nonce uint64) {
	if nonce == 0 {
		r.peers[to].hailed = env.Now()
	}
	r.post.Post(env, r.set[to], r.hailOf(nonce))
}

// hailOf returns the answer to the hail of a nonce, or a hail if there is none.
func (r *membership) hailOf(nonce uint64) *message.LeaseHail {
	m := &message.LeaseHail{
		Group: r.c.Group, Members: r.names, Standing: uint8(r.standing), Generation: r.gens[r.self], Epoch: r.epoch,
		Nonce: nonce, Answer: nonce != 0,
	}
	if !m.Answer {
		m.Nonce = r.nonce
	}
	if s := r.c.Set; s.Version > 0 {
		m.Version, m.Ordinals, m.Retired = s.Version, s.Ordinals, s.Retired
	}
	if r.standing == mute {
		m.Standing = uint8(blank) // a mute member asks only, and answers no hail
	}
	return m
}

// greet hails a peer that speaks before this member knows it.
func (r *membership) greet(env node.Env, to int) {
	if p := &r.peers[to]; !p.differs && env.Now().Sub(p.hailed) >= r.c.RetryMin {
		r.hail(env, to, 0)
	}
}

func (r *membership) onHailTimer(env node.Env) {
	if r.standing == mute && r.recovery == nil {
		return
	}
	r.wakeWrite(env)
	r.hailAll(env)
	r.judge(env)
	r.retryJoin(env)
	r.advanceRecovery(env)
}

func (r *membership) onHail(env node.Env, from int, m *message.LeaseHail) {
	p := &r.peers[from]
	if r.standing == mute && r.recovery == nil {
		return
	}
	if !m.Answer && r.standing != mute && m.Nonce != 0 {
		r.hail(env, from, m.Nonce)
	}
	if !r.hearSet(env, from, m) {
		return
	}
	p.differs = false
	if m.Epoch > epochMax {
		r.implausible(env, from, m.Kind(), "epoch", m.Epoch, r.epoch)
		return
	}
	if r.standing.speaks() && standing(m.Standing).speaks() && r.outlived(env, from, m.Epoch) {
		return
	}
	p.greeted = m.Epoch == r.epoch || !r.standing.speaks() || !standing(m.Standing).speaks()
	if r.standing == recovered && standing(m.Standing) == recovered && m.Epoch == r.epoch {
		reached(env, "lease/fenced")
		r.loseAll(env)
		r.becomeMute(env, "%s says that it was recovered too: stop the one whose disk is not the truth, and start the other again", r.set[from])
		return
	}
	if m.Answer && m.Nonce == r.nonce && m.Standing <= uint8(recovered) {
		p.known, p.standing, p.epoch = true, standing(m.Standing), m.Epoch
		r.judge(env)
	}
}

// outlived notes the epoch that a member says, and reports whether this member falls silent. A
// majority of the configured set must say a higher epoch: one member's word silences no other. While fewer say so,
// no majority acts in that epoch together with this member, as members of two epochs do not count
// each other.
func (r *membership) outlived(env node.Env, from int, epoch uint64) bool {
	news := epoch > r.peers[from].said
	r.peers[from].said = epoch
	if epoch <= r.epoch {
		return false
	}
	later, least := 0, epoch
	for i := range r.peers {
		if said := r.peers[i].said; i != r.self && said > r.epoch {
			later++
			least = min(least, said)
		}
	}
	if later >= r.majority {
		r.fence(env, fmt.Sprintf("%d of %d members are at epoch %d, this disk is of epoch %d", later, r.n, least, r.epoch))
		return true
	}
	if news {
		r.implausible(env, from, message.KindLeaseHail, "epoch", epoch, r.epoch)
		r.alarm(env, fmt.Sprintf("%s says that the group is at epoch %d, this disk is of epoch %d, and a majority does not say so: keep this disk, and find out whether an operator recovered the group from that member", r.set[from], epoch, r.epoch), nil)
	}
	return false
}

// fence silences this member: its disk is older than what the group knows of it.
func (r *membership) fence(env node.Env, why string) {
	reached(env, "lease/fenced")
	r.loseAll(env)
	r.becomeMute(env, "%s: wipe this member's disk, it will join anew", why)
}

func (r *membership) loseAll(env node.Env) {
	for _, reg := range r.sorted() {
		if p := reg.own; p != nil {
			r.lose(env, p, "superseded")
		}
	}
}

// becomeBlank: the group knows a later generation of this disk. So its content is old, and
// later disks have promised anew: it counts as lost.
func (r *membership) becomeBlank(env node.Env) {
	reached(env, "lease/disk-outlived")
	r.loseAll(env)
	w := &r.writes
	w.keys = []string{r.key("member")}
	for _, reg := range r.sorted() {
		w.keys = append(w.keys, r.keyOf(reg.job))
	}
	for t, ok := r.tombs.After(message.JobID{}); ok; t, ok = r.tombs.After(t.Job) {
		w.keys = append(w.keys, r.keyOf(t.Job))
	}
	clear(w.next)
	w.next, w.waiting = w.next[:0], nil
	clear(w.places)
	r.forgetAll()
	r.standing, r.target = blank, blank
	r.erase(env)
	for i := range r.peers {
		r.peers[i].known = false
	}
	r.hailAll(env)
}

// refuseSet reports a peer with another configuration; at is -1 for a peer outside of this set.
func (r *membership) refuseSet(env node.Env, peer node.Addr, at int, m *message.LeaseHail) {
	if at >= 0 {
		p := &r.peers[at]
		p.greeted, p.known = false, false
		if p.differs {
			return
		}
		p.differs = true
	} else {
		known := slices.Contains(r.strangers, peer)
		full := !known && len(r.strangers) >= MembersMax
		if !m.Answer && m.Nonce != 0 && r.standing != mute && !full { // so that the stranger reports both sets, too
			r.post.Post(env, peer, r.hailOf(m.Nonce))
		}
		if known || full {
			return
		}
		r.strangers = append(r.strangers, peer)
	}
	ours, theirs := strings.Join(r.names, ","), strings.Join(m.Members, ",")
	env.Emit(event.GroupRefused{Group: r.c.Group, Peer: peer, Ours: ours, Theirs: theirs})
	r.tell(Outcome{Kind: SetDiffers, Holder: peer,
		Err: fmt.Errorf("%s is configured with the set %s, this node with %s: give both the same one", peer, theirs, ours)})
}

// judge takes the next step of founding or joining.
func (r *membership) judge(env node.Env) {
	if r.standing == mute || r.standing == member || r.target != r.standing {
		return
	}
	heard := [mute]int{}
	founder := -1 // the member whose disk is the truth of a new epoch
	epoch := uint64(0)
	for i := range r.peers {
		if p := &r.peers[i]; i != r.self && p.known && p.greeted {
			heard[p.standing]++
			if p.standing.speaks() {
				epoch = max(epoch, p.epoch)
			}
			if p.standing == recovered {
				founder = i
			}
		}
	}
	others, speak := r.n-1, heard[member]+heard[recovered]
	switch {
	case r.standing == recovered:
		if heard[member] == others {
			r.advance(env, member)
		}
	case founder >= 0:
		if r.joining == nil || r.joining.only != founder && !r.joining.storing {
			r.startJoin(env, founder)
		}
	case speak > 0 && (r.standing == blank || epoch > 0):
		r.alarmLost(env, heard[blank]+1, others)
		if r.joining == nil {
			r.startJoin(env, -1)
		}
	case r.standing == blank && heard[blank]+heard[founding] == others:
		r.advance(env, founding)
	case r.standing == founding && (speak > 0 || heard[founding] == others):
		for i := range r.gens {
			r.gens[i] = max(r.gens[i], 1) // of all founders: a disk that is lost before its first word must count as another
		}
		r.advance(env, member)
	}
}

// advance makes a standing durable, then takes it.
func (r *membership) advance(env node.Env, to standing) {
	r.recordMark(env, tag{then: stood, from: r.standing, to: to})
	r.target = to
}

func (r *membership) onStood(env node.Env, t tag, err error) {
	if err != nil {
		r.target = t.from
		env.SetTimer(node.Key(node.PartLease, node.LeaseHail), r.retryIn(env))
		return
	}
	if t.to == member && t.from == founding {
		r.becomeMember(env, member, "founded")
	}
	r.standing = t.to
	for i := range r.peers {
		r.peers[i].known = false // their answers may have waited for this
	}
	r.hailAll(env)
	r.judge(env)
}

// alarmLost raises an alarm if so many disks are lost that a blank one cannot join.
func (r *membership) alarmLost(env node.Env, blanks, others int) {
	if others+1-blanks >= r.majority || r.lostTold == blanks {
		return
	}
	r.lostTold = blanks
	r.alarm(env, fmt.Sprintf(
		"%d of %d %s have lost their disks: %d others must have kept theirs for one to join: bring a disk back, or start one member that kept its disk with recover",
		blanks, r.n, plural(r.c.Group), r.majority), nil)
}

// learnGens keeps the larger generation of each disk: by its own member's word, or once a majority
// says so. It returns false if that majority knows of a newer disk of this member than the one that
// it runs on.
func (r *membership) learnGens(env node.Env, from int, m *message.LeaseFrame) bool {
	var raised members
	for i, g := range m.Gens {
		if g <= r.gens[i] {
			continue
		}
		if !r.reachable(i, g) {
			r.implausible(env, from, m.Kind(), "generation", g, r.gens[i])
			continue
		}
		if i != from {
			if g = r.claim(from, i, g); g <= r.gens[i] {
				continue
			}
		}
		if i == r.self && g>>32 > r.epoch {
			r.fence(env, fmt.Sprintf("a majority knows of this member at epoch %d, this disk is of epoch %d", g>>32, r.epoch))
			return false
		}
		r.gens[i] = g
		if i == r.self {
			r.becomeBlank(env)
			return false
		}
		raised.add(i)
	}
	if raised != 0 {
		r.forgetAnswers(raised)
		r.unsaved = true
		r.recordMark(env)
	}
	return true
}

// claim notes what a member says of another one's disk, and returns the generation that a majority
// says, 0 for none.
func (r *membership) claim(by, of int, g uint64) uint64 {
	if r.claims == nil {
		r.claims = make([][]uint64, r.n)
		for i := range r.claims {
			r.claims[i] = make([]uint64, r.n)
		}
	}
	r.claims[by][of] = max(r.claims[by][of], g)
	said := make([]uint64, 0, r.n)
	for i := range r.claims {
		if i != of {
			said = append(said, r.claims[i][of])
		}
	}
	slices.Sort(said)
	if len(said) < r.majority {
		return 0
	}
	return said[len(said)-r.majority]
}

// reachable reports whether a member's disk can be of a generation. Each lost disk raises it by
// one, and each recovery of the group begins a range.
func (r *membership) reachable(i int, g uint64) bool {
	return g <= max(r.gens[i], epochGenerations(r.epoch+1))+generationStep
}

// forgetAnswers drops the answers of disks that are lost.
func (r *membership) forgetAnswers(of members) {
	//lint:orderfree each register is changed alone
	for _, reg := range r.registers {
		if p := reg.own; p != nil {
			p.promised &^= of
			p.has &^= of
			p.acked &^= of
		}
	}
	//lint:orderfree each read is changed alone
	for _, q := range r.reads {
		q.got &^= of
	}
}

// Raise raises the level of the group, and asks the others to, unless one of them holds it back.
func (r *membership) Raise(env node.Env, to uint16) {
	if len(r.heldBack(env, to)) == 0 {
		leveling{r}.adopt(env, to)
		leveling{r}.tellAll(env, to)
	}
}

// Version returns what this member knows of the versions of its group, and asks the others for their
// levels.
func (r *membership) Version(env node.Env) message.GroupVersion {
	leveling{r}.tellAll(env, 0)
	own := r.level.Own()
	v := message.GroupVersion{Group: r.c.Group, Level: own, Agreed: r.level.Others(own)+1 >= r.majority, Target: env.Self().Minor}
	if own < v.Target {
		v.Held = r.heldBack(env, v.Target)
	}
	for i, a := range r.set {
		minor, heard := r.version(env, i)
		v.Members = append(v.Members, message.MemberVersion{Addr: string(a), Heard: heard, Minor: minor, Level: r.level.Said(i)})
	}
	return v
}

// leveling is what a member does for the level of its group.
type leveling struct{ *membership }

// adopt makes a higher level durable, then takes it.
func (r leveling) adopt(env node.Env, to uint16) {
	if r.level.Want(to) {
		r.recordMark(env, tag{then: raised, level: r.level.Target()})
	}
}

func (r leveling) onRaised(env node.Env, t tag, err error) {
	if err == nil && r.level.Rise(t.level) {
		reached(env, "lease/level-raised")
		env.Emit(event.GroupLevel{Group: r.c.Group, Level: t.level})
		r.tellAll(env, 0)
	}
}

// tellAll tells all others that know levels this member's.
func (r leveling) tellAll(env node.Env, raise uint16) {
	for i := range r.set {
		if i != r.self {
			r.tellOne(env, i, raise, false)
		}
	}
}

func (r leveling) tellOne(env node.Env, to int, raise uint16, answer bool) {
	if minor, heard := r.version(env, to); heard && minor >= message.Since(message.KindLeaseLevel) {
		r.post.Post(env, r.set[to], &message.LeaseLevel{Group: r.c.Group, Level: r.level.Own(), Raise: raise, Answer: answer})
	}
}

// hear takes a level once this member hears that all are of that version, or a majority has it:
// one member's word raises none.
func (r leveling) hear(env node.Env, from int, m *message.LeaseLevel) {
	if !r.standing.speaks() {
		return
	}
	r.level.Note(from, m.Level)
	for _, to := range []uint16{m.Raise, m.Level} {
		majority := r.level.Others(to) >= r.majority
		switch {
		case to <= r.level.Own():
		case majority && to > env.Self().Minor:
			r.loseAll(env)
			r.becomeMute(env, "the group has level %s, and this node is of version %s: start version %s or newer", message.VersionText(to), message.VersionText(env.Self().Minor), message.VersionText(to))
			return
		case majority || len(r.heldBack(env, to)) == 0:
			r.adopt(env, to)
		}
	}
	if !m.Answer {
		r.tellOne(env, from, 0, true)
	}
}

// keepUp tells a member that speaks to this one the level, if it may have been away when that rose.
func (r leveling) keepUp(env node.Env, i int) {
	if r.standing.speaks() && r.level.Due(i, env.Now(), r.c.AttemptTimeout) {
		r.post.Post(env, r.set[i], &message.LeaseLevel{Group: r.c.Group, Level: r.level.Own()})
	}
}

// outdated reports whether a member is of a version below the group's level: then it takes no part.
// It takes none before it has said its version, either.
func (r leveling) outdated(env node.Env, i int, from node.Peer) bool {
	if from.Minor >= r.level.Own() {
		r.level.Older(i, false)
		return false
	}
	if minor, heard := r.version(env, i); heard && minor < r.level.Own() && r.level.Older(i, true) {
		reached(env, "lease/older-member")
		r.alarm(env, fmt.Sprintf("%s is of version %s, and the group has level %s: start version %s or newer there", r.set[i],
			message.VersionText(minor), message.VersionText(r.level.Own()), message.VersionText(r.level.Own())), nil)
	}
	return true
}
