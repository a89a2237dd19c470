package admission

// Level is how loaded a node is.
type Level uint8

// The levels.
const (
	Calm Level = iota
	Busy
	Stressed
	Overloaded
	Emergency // latency and a share are both overloaded
	Levels
)

func (l Level) String() string {
	return [...]string{"calm", "busy", "stressed", "overloaded", "emergency"}[min(l, Emergency)]
}

// Share is how much of a bound is in use, in millionths.
type Share int64

const million = 1_000_000

// ShareOf returns how much of a bound n is.
func ShareOf(n, bound int) Share { return Share(int64(n) * million / int64(max(1, bound))) }

// over returns how many of three ascending bounds a value has reached: a bound belongs to the
// level above it.
func over(v int64, bounds [3]int64) Level {
	l := Calm
	for _, b := range bounds {
		if v >= b {
			l++
		}
	}
	return l
}
