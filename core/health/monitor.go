package health

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// Config of a monitor.
type Config struct {
	// Interval of the timer whose lateness is the lag.
	Interval time.Duration
	// Window over which the worst lag counts, so that one punctual timer does not
	// hide that the one before it came late.
	Window time.Duration
}

// Default is what production uses.
func Default() Config { return Config{Interval: 250 * time.Millisecond, Window: 2 * time.Second} }

// Monitor measures the lag of a node's loop and keeps its level.
type Monitor struct {
	config     Config
	due        node.Instant
	lag        time.Duration // the worst of this window
	before     time.Duration // of the window before
	since      node.Instant  // this window's beginning
	multiplier int
	level      Level
}

// New returns a monitor.
func New(c Config) *Monitor {
	if c.Interval <= 0 || c.Window < c.Interval {
		node.Bug("health: interval %v and window %v must be positive and in order: start from health.Default", c.Interval, c.Window)
	}
	return &Monitor{config: c}
}

// Start begins: within InputStart.
func (m *Monitor) Start(env node.Env) {
	m.since = env.Now()
	m.arm(env)
}

func (m *Monitor) arm(env node.Env) {
	m.due = env.Now().Add(m.config.Interval)
	env.SetTimer(node.Key(node.PartHealth, node.HealthLag), m.config.Interval)
}

// Fire takes a timer that is the monitor's, and says whether it was.
func (m *Monitor) Fire(env node.Env, k node.TimerKey) bool {
	if k.Part != node.PartHealth {
		return false
	}
	now := env.Now()
	if now.Sub(m.since) >= m.config.Window {
		m.before, m.lag, m.since = m.lag, 0, now
	}
	m.lag = max(m.lag, now.Sub(m.due))
	m.arm(env)
	m.judge(env)
	return true
}

// SetMultiplier tells it local health, as core/swim has it.
func (m *Monitor) SetMultiplier(env node.Env, n int) {
	m.multiplier = n
	m.judge(env)
}

func (m *Monitor) judge(env node.Env) {
	if l := Of(m.multiplier, m.Lag()); l != m.level {
		env.Emit(event.HealthChanged{From: m.level.String(), To: l.String(), Multiplier: m.multiplier})
		m.level = l
	}
}

// Lag is the worst of the last window and this one: what core/swim is told.
func (m *Monitor) Lag() time.Duration { return max(m.lag, m.before) }

// Level is that of this node.
func (m *Monitor) Level() Level { return m.level }
