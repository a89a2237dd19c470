package cookie

import "strings"

// parseDate reads whatever servers write for a date (5.1.1): seconds since 1970.
func parseDate(b []byte) (int64, bool) {
	var hour, minute, second, dayOf, month, year int
	var hasTime, hasDay, hasMonth, hasYear bool
	for len(b) > 0 {
		start := 0
		for start < len(b) && isDelimiter(b[start]) {
			start++
		}
		end := start
		for end < len(b) && !isDelimiter(b[end]) {
			end++
		}
		token := b[start:end]
		b = b[end:]
		if len(token) == 0 {
			continue
		}
		if h, m, s, ok := clock(token); ok && !hasTime {
			hour, minute, second, hasTime = h, m, s, true
			continue
		}
		if n, ok := leading(token, 1, 2); ok && !hasDay {
			dayOf, hasDay = n, true
			continue
		}
		if m := monthOf(token); m > 0 && !hasMonth {
			month, hasMonth = m, true
			continue
		}
		if n, ok := leading(token, 2, 4); ok && !hasYear {
			year, hasYear = n, true
		}
	}
	switch {
	case year >= 70 && year <= 99:
		year += 1900
	case year >= 0 && year <= 69:
		year += 2000
	}
	if !hasTime || !hasDay || !hasMonth || !hasYear || dayOf < 1 || dayOf > 31 || year < 1601 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	if dayOf > monthDays(year, month) {
		return 0, false
	}
	return (days(year, month, dayOf)*24+int64(hour))*3600 + int64(minute)*60 + int64(second), true
}

func isDelimiter(c byte) bool {
	return c == '\t' || c >= 0x20 && c <= 0x2f || c >= 0x3b && c <= 0x40 || c >= 0x5b && c <= 0x60 || c >= 0x7b && c <= 0x7e
}

// leading reads a token's first digits, between least and most of them; the next character must
// not be a digit.
func leading(token []byte, least, most int) (n int, ok bool) {
	i := 0
	for i < len(token) && token[i] >= '0' && token[i] <= '9' {
		if i == most {
			return 0, false
		}
		n = n*10 + int(token[i]-'0')
		i++
	}
	return n, i >= least
}

// clock reads hh:mm:ss, each of one or two digits.
func clock(token []byte) (h, m, s int, ok bool) {
	var parts [3]int
	for i := range parts {
		n, ok := leading(token, 1, 2)
		if !ok {
			return 0, 0, 0, false
		}
		parts[i] = n
		for len(token) > 0 && token[0] >= '0' && token[0] <= '9' {
			token = token[1:]
		}
		if i < 2 {
			if len(token) == 0 || token[0] != ':' {
				return 0, 0, 0, false
			}
			token = token[1:]
		}
	}
	return parts[0], parts[1], parts[2], true
}

func monthOf(token []byte) int {
	if len(token) < 3 {
		return 0
	}
	at := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(string(token[:3])))
	if at < 0 || at%3 != 0 {
		return 0
	}
	return at/3 + 1
}

func monthDays(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// days counts from 1970 to a date of the Gregorian calendar: years begin in March, so
// that the day which some lack is their last.
func days(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y, m = y-1, m+12
	}
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + int64(day) - 1 - 719468
}
