package exec

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/setting"
	"hyperscale/runtime/rows"
	"hyperscale/runtime/trace"
)

// Config of a pool.
type Config struct {
	// Cores is how many executors run at once, from 1.
	Cores int
	// CPUs are the processors to pin them to, core i to CPUs[i mod len]. Empty:
	// all that this process may use, in their order.
	CPUs []int
	// Command starts one executor. Empty: this binary with the argument
	// "executor".
	Command []string
	// MemoryMax bounds the memory of one executor, in bytes; a workflow may declare less. Its worker
	// throttles and ends one that reaches its budget (core/worker/budget). The child's garbage
	// collector aims for 80 % of it.
	MemoryMax uint64
	// MemoryInterval is how often the pool measures executors. Less costs reads of /proc for each
	// of them, more lets a run-away allocate for longer. From 85 % of a budget on, and while an
	// executor grows fast, the pool measures ten times as often.
	MemoryInterval time.Duration
	// Feeds is the folder in which files lie that are too large to travel with
	// a program. Empty: there are none.
	Feeds string
	Surroundings
	Trace  *trace.File // gets samples of requests; nil: none are taken
	Logger *slog.Logger
}

// Default returns a pool of one core for this binary.
func Default() Config {
	return Config{Cores: 1, Surroundings: Surroundings{Sandbox: SandboxAuto}, MemoryMax: 4 << 30, MemoryInterval: 250 * time.Millisecond, Logger: slog.Default()}
}

// Settings are the values that an operator may set.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		{Key: "exec.memory_max", Value: &c.MemoryMax, Least: 32 << 20, Is: "memory of one executor: it is throttled from 85 % on, and ended after 5 s above 100 %, or at 110 %",
			Raise: "more virtual users and larger bodies in one executor", Lower: "one that runs away leaves the machine more"},
		{Key: "exec.memory_interval", Value: &c.MemoryInterval, Least: int64(10 * time.Millisecond), Is: "time between two measurements of it",
			Raise: "one that runs away allocates longer", Lower: "reads of /proc for each executor"},
	}
}

// Validate reports every fault.
func (c Config) Validate() error {
	var faults []error
	if c.Cores < 1 || c.Cores > 4096 {
		faults = append(faults, fmt.Errorf("exec.cores = %d must be 1 to 4096: leave it out to use all cores but one", c.Cores))
	}
	faults = append(faults, setting.Check(c.Settings())...)
	faults = append(faults, c.Surroundings.check()...)
	if c.Logger == nil {
		faults = append(faults, errors.New("exec.logger is nil: give one, slog.DiscardHandler for no log"))
	}
	return errors.Join(faults...)
}

// Pool is the executors of one worker. It implements node.Executor.
type Pool struct {
	config Config
	sink   func(node.ExecEvent)
	sheets *rows.Cache
	called string    // the command's name, for people
	bare   sync.Once // the first executor without a filter of system calls was logged
	hidden sync.Once // the first executor that /proc hides was logged

	mu     sync.Mutex
	warm   []*child // by core: started, without work
	busy   map[node.ExecID]*child
	closed bool
	group  sync.WaitGroup
}

var _ node.Executor = (*Pool)(nil)

// New starts one warm executor a core. Events go to sink, from goroutines of
// the pool; sink must not block for long.
func New(c Config, sink func(node.ExecEvent)) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	called := ""
	if len(c.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this binary, to start executors from it: %w", err)
		}
		// The link leads to this binary also after an upgrade has replaced its file, and for a user
		// who may not look into its folder.
		c.Command, called = []string{"/proc/self/exe", "executor"}, self
	}
	called = cmp.Or(called, c.Command[0])
	if len(c.CPUs) == 0 {
		c.CPUs = Usable()
	}
	p := &Pool{config: c, sink: sink, sheets: rows.NewCache(c.Feeds), called: called, warm: make([]*child, c.Cores), busy: map[node.ExecID]*child{}}
	for core := range p.warm {
		ch, err := p.spawn(core)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.warm[core] = ch
	}
	p.group.Add(1)
	go p.watchUsage()
	return p, nil
}

// Start implements node.Executor.
func (p *Pool) Start(id node.ExecID, core int, m node.Message) {
	start, ok := m.(*message.ExecStart)
	if !ok || core < 0 || core >= len(p.warm) {
		node.Bug("exec: start %d on core %d of %d with %T", id, core, len(p.warm), m)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.gone(id, "the worker is stopping")
		return
	}
	ch := p.warm[core]
	if ch == nil {
		var err error
		if ch, err = p.spawn(core); err != nil {
			p.gone(id, err.Error())
			return
		}
	}
	p.warm[core] = nil
	p.busy[id] = ch
	ch.begin(id, start)
}

// Cancel implements node.Executor.
func (p *Pool) Cancel(id node.ExecID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ch := p.busy[id]; ch != nil {
		ch.send(&message.ExecCancel{Reason: "cancelled"})
	}
}

// Extend implements node.Executor: the instants of a node that runs on the real
// clock are readings of CLOCK_BOOTTIME (runtime/loop), which the child reads too.
func (p *Pool) Extend(id node.ExecID, until node.Instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ch := p.busy[id]; ch != nil {
		ch.extend(uint64(max(1, until)))
	}
}

// Tell implements node.Executor.
func (p *Pool) Tell(id node.ExecID, m node.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ch := p.busy[id]
	if ch == nil {
		return
	}
	if m, ok := m.(*message.ExecThrottle); ok {
		ch.slow(m.On)
		return
	}
	ch.send(m)
}

// Kill implements node.Executor.
func (p *Pool) Kill(id node.ExecID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ch := p.busy[id]; ch != nil {
		ch.kill("killed by its worker")
	}
}

// Close kills every executor and returns when all are reaped.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for _, ch := range p.warm {
		if ch != nil {
			ch.kill("the worker is stopping")
		}
	}
	for _, ch := range p.busy {
		ch.kill("the worker is stopping")
	}
	p.mu.Unlock()
	p.group.Wait()
}

// Pids returns the processes that run now, for tests and status.
func (p *Pool) Pids() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pids []int
	for _, ch := range p.busy {
		pids = append(pids, ch.pid())
	}
	return pids
}

// ready takes what a warm executor says of itself, and looks whether it can be measured. It is not
// reaped before its messages are read. What it logs is the same for all executors of this machine.
func (p *Pool) ready(pid int, m *message.ExecReady) {
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); errors.Is(err, fs.ErrNotExist) {
		p.hidden.Do(func() {
			p.config.Logger.Warn("executors cannot be measured: no budget of memory holds", "reason", "/proc hides processes from this user",
				"remedy", "mount it with gid= of a group of this user beside hidepid=, or give the worker CAP_SYS_PTRACE")
		})
	}
	if m.Bare == "" {
		return
	}
	p.bare.Do(func() {
		p.config.Logger.Warn("executors run without a filter of system calls", "reason", m.Bare,
			"remedy", "use a kernel with CONFIG_SECCOMP_FILTER, or let the container call seccomp; --executor-sandbox require makes it an error, off ends this warning")
	})
}

// gone reports an end without delaying the caller of Start.
func (p *Pool) gone(id node.ExecID, reason string) {
	p.group.Go(func() {
		p.sink(node.ExecEvent{ID: id, Kind: node.ExecGone, Reason: reason, Cause: node.ExecUnspawned})
	})
}

// exited handles the end of a child, once it is reaped. It warms the core again before the
// event reports the core as free.
func (p *Pool) exited(ch *child, reason, tail string, lapsed bool) {
	p.mu.Lock()
	id, busy := ch.id, ch.id != 0
	delete(p.busy, id)
	for _, name := range ch.sheets {
		p.sheets.Close(name)
	}
	ch.sheets = nil
	if p.warm[ch.core] == ch {
		p.warm[ch.core] = nil
	}
	if busy && !p.closed && p.warm[ch.core] == nil {
		next, err := p.spawn(ch.core)
		if err != nil {
			p.config.Logger.Error("executor not started", "core", ch.core, "error", err)
		}
		p.warm[ch.core] = next
	}
	closed := p.closed
	p.mu.Unlock()
	if busy {
		p.sink(node.ExecEvent{ID: id, Kind: node.ExecGone, Reason: reason, Tail: tail, Lapsed: lapsed, Cause: ch.cause()})
	} else if !closed {
		p.config.Logger.Error("idle executor ended", "core", ch.core, "reason", reason, "tail", tail)
	}
}
