package outputs

import (
	"errors"
	"time"
)

// Delivery says what a repeated batch does to a place.
type Delivery uint8

// The deliveries.
const (
	DeliveryNone Delivery = iota
	Exact                 // key and version decide: a repeated row changes nothing
	AtLeastOnce           // the place adds up what it receives: the shell repeats unclear batches and counts them
	AtMostOnce            // the place never answers: the shell repeats nothing, what the kernel rejects is lost
)

// String is the delivery in words.
func (d Delivery) String() string {
	switch d {
	case Exact:
		return "exact"
	case AtLeastOnce:
		return "at least once"
	case AtMostOnce:
		return "at most once"
	case DeliveryNone:
	}
	return "none"
}

// Limits bound the batches of a kind. Zero values take the defaults of Limits.Filled.
type Limits struct {
	Rows     int           // of one batch
	Bytes    int           // of one batch, by Row.Size
	Age      time.Duration // how long the oldest row waits for others
	Timeout  time.Duration // of one try
	Parallel int           // tries at once, of batches that do not depend on each other: 1 to 4
	Window   time.Duration // the shortest window; zero: WindowMin
}

// The defaults of Limits: a batch of 200 windows is about 200 KB, a place that needs longer than 10 s for one
// is overloaded.
const (
	rowsDefault    = 500
	bytesDefault   = 1 << 20
	ageDefault     = time.Second
	timeoutDefault = 10 * time.Second
)

// Filled returns the limits with the default of each one that is zero.
func (l Limits) Filled() Limits {
	if l.Rows == 0 {
		l.Rows = rowsDefault
	}
	if l.Bytes == 0 {
		l.Bytes = bytesDefault
	}
	if l.Age == 0 {
		l.Age = ageDefault
	}
	if l.Timeout == 0 {
		l.Timeout = timeoutDefault
	}
	if l.Parallel == 0 {
		l.Parallel = 1
	}
	if l.Window == 0 {
		l.Window = WindowMin
	}
	return l
}

// Kind is one row of the table of kinds: a place that `--out KIND=PLACE` names.
type Kind struct {
	Name     string // of --out: small letters and digits
	Engine   string // files, sql, program, push, lines, documents, broker
	About    string // what it is, in a line
	Place    string // what stands for PLACE in help: FILE, URL, PROGRAM
	Example  string // a whole PLACE with options
	Options  []Option
	Delivery Delivery
	Limits   Limits
	Tested   string // against which server, double or reader, with its version
	Named    bool   // only a configuration names it: --out means the output of this name that takes the result
	Sums     bool   // its rows need sums, so it takes those of a job that runs, and none of a file
	Schema   string // what `outputs schema KIND` prints; empty: the kind has none

	// Open reads the settings and returns the sink. It opens no connection and no file: Check does.
	Open func(s *Settings) (Sink, error)
	// Alone says why one process must deliver all rows of a job with some settings, as no gate can promise; nil, or empty: it need not.
	Alone func(s *Settings) string
	// ReadBack reads the rows of a job from the place, for `outputs verify`, and changes nothing there; nil: the kind
	// cannot read. With ErrTorn it returns the rows that are whole.
	ReadBack func(s *Settings, job string) ([]Row, error)
}

// ErrTorn says that a place ends with a part of a row, as a crash leaves it: the rows before that part are whole.
var ErrTorn = errors.New("a crash has torn the last row, which is left out")

// OptionType says how the value of an option is read.
type OptionType uint8

// The types of options.
const (
	OptionText   OptionType = iota
	OptionBool              // true or false
	OptionNumber            // within Min and Max
	OptionSpan              // a time such as 10s, within Min and Max, in nanoseconds
	OptionChoice            // one of Choices
	OptionSecret            // not given itself: NAME_file names a file, NAME_env a variable that has it
)

// Option is one setting of a kind.
type Option struct {
	Name     string // small letters, digits, _
	Help     string
	Type     OptionType
	Default  string // as the user would write it; empty: none
	Min, Max int64
	Choices  []string
}

// CommonOptions are those of every kind.
func CommonOptions() []Option {
	return []Option{
		{Name: "window", Type: OptionChoice, Default: "10s", Choices: []string{"1s", "5s", "10s", "30s", "60s", "300s"}, Help: "length of the windows of its rows"},
		{Name: "required", Type: OptionBool, Default: "true", Help: "false: the command runs without the output if its check fails"},
		{Name: "dead_letters", Type: OptionText, Help: "file for rows that the place rejects, as lines of JSON, 16 MiB at most"},
	}
}

// WindowMin is the shortest window.
const WindowMin = time.Second
