package health

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// Config configures a monitor.
type Config struct {
	// Interval of the timer whose lateness is the lag.
	Interval time.Duration
	// Window over which the worst lag counts. Without it, one punctual timer would hide that
	// the last one was late.
	Window time.Duration
}

// Default is the configuration of production.
func Default() Config { return Config{Interval: 250 * time.Millisecond, Window: 2 * time.Second} }

// Monitor measures the lag of a node's loop, and derives the node's level.
type Monitor struct {
	config     Config
	due        node.Instant
	lag        time.Duration // the worst of this window
	before     time.Duration // the worst of the last window
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

// Start begins to measure, within InputStart.
func (m *Monitor) Start(env node.Env) {
	m.since = env.Now()
	m.arm(env)
}

func (m *Monitor) arm(env node.Env) {
	m.due = env.Now().Add(m.config.Interval)
	env.SetTimer(node.Key(node.PartHealth, node.HealthLag), m.config.Interval)
}

// Fire handles a timer, and reports whether it was the monitor's.
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

// SetMultiplier sets the local health that core/swim counts.
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

// Lag returns the worst of the last window and this one, for core/swim.
func (m *Monitor) Lag() time.Duration { return max(m.lag, m.before) }

// Level returns this node's level.
func (m *Monitor) Level() Level { return m.level }
