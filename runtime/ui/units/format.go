package units

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Count writes n with thousands apart: 1,234,567.
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted writes a number with its noun: 1 step, 1,176 steps.
func Counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Shorten cuts a text to a number of characters, the last of which shows that it did.
func Shorten(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// Milli writes thousandths: 1,234.5, 12.34, 0.012; at most four digits behind
// small numbers, none behind large ones.
func Milli(v uint64) string {
	switch {
	case v >= 1_000_000:
		return Count((v + 500) / 1000)
	case v%1000 == 0:
		return strconv.FormatUint(v/1000, 10)
	case v >= 100_000:
		return strconv.FormatFloat(float64(v)/1000, 'f', 1, 64)
	case v >= 10_000:
		return strconv.FormatFloat(float64(v)/1000, 'f', 2, 64)
	}
	return strconv.FormatFloat(float64(v)/1000, 'f', 3, 64)
}

// Compact writes thousandths in as few characters as the end of an axis has room for.
func Compact(milli uint64) string {
	v := float64(milli) / 1000
	for _, unit := range [...]string{"", "K", "M", "G"} {
		if v < 1000 {
			return strconv.FormatFloat(v, 'g', 3, 64) + unit
		}
		v /= 1000
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + "T"
}

// Latency writes nanoseconds with three digits that matter: 812ns, 1.23ms, 45.6s.
func Latency(ns uint64) string {
	units := []struct {
		name string
		size uint64
	}{{"s", uint64(time.Second)}, {"ms", uint64(time.Millisecond)}, {"µs", uint64(time.Microsecond)}}
	for _, u := range units {
		// 999.6 µs is 1.00 ms: three digits would round up to four.
		if ns+u.size/2000 < u.size {
			continue
		}
		v := float64(ns) / float64(u.size)
		switch {
		case v < 9.995:
			return strconv.FormatFloat(v, 'f', 2, 64) + u.name
		case v < 99.95:
			return strconv.FormatFloat(v, 'f', 1, 64) + u.name
		}
		return strconv.FormatFloat(v, 'f', 0, 64) + u.name
	}
	return strconv.FormatUint(ns, 10) + "ns"
}

// LatencyOr is Latency, or a dash where nothing was measured: no answer takes no time.
func LatencyOr(ns uint64) string {
	if ns == 0 {
		return "-"
	}
	return Latency(ns)
}

// Duration writes how long something took, for people: 0.3s, 12.4s, 3m05s, 2h04m.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0.0s"
	case d < time.Minute-50*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Share writes part of whole in percent; the ends are exact, so that 100 % means all.
func Share(part, whole uint64) string {
	switch {
	case whole == 0:
		return "-"
	case part >= whole:
		return "100%"
	case part == 0:
		return "0%"
	}
	return fmt.Sprintf("%.2f%%", min(99.99, max(0.01, 100*float64(part)/float64(whole))))
}

// Bytes writes a size in binary units: 812 B, 1.2 MiB.
func Bytes(n uint64) string {
	const step = 1024
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/step, 0
	for v >= step && unit < len("KMGTPE")-1 {
		v /= step
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", v, "KMGTPE"[unit])
}

// Clean makes text from outside safe to print on one line (UI-2).
func Clean(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Variation_Selector, r):
			return -1 // invisible, and terminals disagree about its width
		case unprintable(r):
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "·"))
}

// CleanLines is the same of a text whose lines and tabs are its writer's own: only what stands between them is from outside.
func CleanLines(s string) string {
	var b strings.Builder
	for s != "" {
		end := strings.IndexAny(s, "\n\t")
		if end < 0 {
			end = len(s)
		}
		b.WriteString(Clean(s[:end]))
		b.WriteString(s[end:min(end+1, len(s))])
		s = s[min(end+1, len(s)):]
	}
	return b.String()
}

func unprintable(r rune) bool {
	return !unicode.IsPrint(r) || r > unicode.MaxLatin1 && unicode.Is(unicode.Variation_Selector, r)
}
