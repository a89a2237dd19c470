package gate

import (
	"hyperscale/core/event"
	"hyperscale/core/node"
)

// put is one write and what follows it.
type put struct {
	token   node.Token
	what    string
	job     *job // whose record goes with it; nil for none
	upTo    int  // transitions that the record holds
	final   bool // the job's end, which makes all its other writes needless
	extra   []node.Record
	counted []*part            // results that the write makes durable
	then    func(env node.Env) // after it is on disk
	refused func(env node.Env) // instead of trying again
}

// save writes the job's record as it is now, and extra records with it.
func (m *Machine) save(env node.Env, p *put) {
	m.token++
	p.token = m.token
	records := p.extra
	if p.job != nil {
		p.upTo = p.job.told + len(p.job.untold)
		records = append([]node.Record{p.job.record(env.Now())}, p.extra...)
	}
	m.puts = append(m.puts, p)
	env.Store().Put(records, p.token)
}

func (m *Machine) onStored(env node.Env, in *node.Input) {
	if len(m.puts) == 0 || m.puts[0].token != in.Token {
		node.Bug("gate: write %d completed, %d were waited for", in.Token, len(m.puts))
	}
	p := m.puts[0]
	m.puts = m.puts[1:]
	if in.Err != nil {
		m.onStoreFailed(env, p, in.Err)
	} else {
		m.storeFailed = false
		m.onPut(env, p)
	}
	m.haltIfDone(env)
}

func (m *Machine) onPut(env node.Env, p *put) {
	if p.job != nil {
		m.confirmCounted(env, p.job, p.counted)
		m.tell(env, p.job, p.upTo)
	}
	if p.then != nil {
		p.then(env)
	}
	if p.job != nil {
		m.answerCancels(env, p.job)
		m.pushNow(env, p.job)
	}
}

// onStoreFailed keeps what must not be lost for another try: the job's record
// is then encoded anew, so that an old one never follows a newer one.
func (m *Machine) onStoreFailed(env node.Env, p *put, err error) {
	env.Emit(event.StoreFailed{What: p.what, Err: err.Error()})
	m.storeFailed = true
	if p.refused != nil {
		p.refused(env)
	} else {
		m.refused = append(m.refused, p)
	}
	env.SetTimer(node.Key(node.PartGate, node.GateRetry), m.config.StoreRetry)
}

// onStoreRetry writes again what was refused, or a mark that only tells whether
// the disk is well.
func (m *Machine) onStoreRetry(env node.Env) {
	again := m.refused
	m.refused = nil
	for _, p := range again {
		if p.job == nil || p.final || !p.job.state.Terminal() {
			m.save(env, p)
		}
	}
	if len(again) == 0 && m.storeFailed {
		m.save(env, &put{what: "probe", extra: []node.Record{{Key: "probe", Value: []byte{1}}}, refused: func(node.Env) {}})
	}
}
