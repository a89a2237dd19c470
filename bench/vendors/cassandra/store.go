package main

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// types are those of columns: their numbers, and their lengths in bytes; zero: any.
var types = map[string]struct{ id, size int }{"text": {0x0D, 0}, "bigint": {0x02, 8}, "date": {0x11, 4}, "timestamp": {0x0B, 8}, "uuid": {0x0C, 16}, "inet": {0x10, 0}}

type column struct{ name, of string }

type table struct {
	name      string // KEYSPACE.TABLE
	columns   []column
	partition []string
	keys      []string // of the partition and of its rows
	rows      map[string]*row
}

// row has its cells by column.
type row struct{ cells map[string]cell }

type cell struct {
	value []byte
	at    int64
}

// statement is one that was parsed.
type statement struct {
	text   string
	of     *table
	insert []string // columns
	shows  []string
	where  []string
	marks  []column // of the values, in order
	create *table
	stamps bool // the last value is the write time
}

type node struct {
	mu       sync.Mutex
	tables   map[string]*table
	prepared map[string]*statement
	code     int // of the error that executions get
	count    int // how many of them
}

func newNode() *node {
	return &node{tables: map[string]*table{}, prepared: map[string]*statement{}}
}

func (n *node) fails(code, count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.code, n.count = code, count
}

func (n *node) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.prepared)
}

func (n *node) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.prepared)
	clear(n.tables)
}

func invalid(what string) { panic(fault{errInvalid, what, nil}) }

const nameOf = `("[A-Za-z0-9_]+"|[A-Za-z0-9_]+)`

var (
	creates = regexp.MustCompile(`(?is)^CREATE TABLE IF NOT EXISTS ` + nameOf + `\.` + nameOf + ` \((.*), PRIMARY KEY \((\([^)]*\)|[a-z_]+)(?:, ([^()]*))?\)\)$`)
	inserts = regexp.MustCompile(`(?is)^INSERT INTO ` + nameOf + `\.` + nameOf + ` \(([^)]*)\) VALUES \(([?, ]*)\)( USING TIMESTAMP \?)?$`)
	selects = regexp.MustCompile(`(?is)^SELECT (.*?) FROM ` + nameOf + `\.` + nameOf + `(?: WHERE (.*))?$`)
	equals  = regexp.MustCompile(`(?i)^([a-z_]+) ?= ?\?$`)
)

func words(list string) (all []string) {
	for _, w := range strings.Split(list, ",") {
		if w = strings.TrimSpace(w); w != "" {
			all = append(all, w)
		}
	}
	return all
}

// full is the name of a table: of one with quotes as it is, else in small letters.
func full(keyspace, name string) string {
	one := func(s string) string {
		if strings.HasPrefix(s, `"`) {
			return strings.Trim(s, `"`)
		}
		return strings.ToLower(s)
	}
	return one(keyspace) + "." + one(name)
}

// parse reads the statements that the double knows.
func (n *node) parse(text string) *statement {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	s := &statement{text: text}
	find := func(keyspace, name string) *table {
		t := n.tables[full(keyspace, name)]
		if t == nil {
			if k := strings.Split(full(keyspace, name), ".")[0]; k != "load" {
				invalid("Keyspace '" + k + "' does not exist")
			}
			invalid("unconfigured table " + name)
		}
		return t
	}
	if m := creates.FindStringSubmatch(text); m != nil {
		s.create = created(full(m[1], m[2]), m[3], words(strings.Trim(m[4], "()")), words(m[5]))
		return s
	}
	if m := inserts.FindStringSubmatch(text); m != nil {
		s.of, s.insert, s.stamps = find(m[1], m[2]), words(m[3]), m[5] != ""
		if len(words(m[4])) != len(s.insert) {
			invalid("Unmatched column names/values")
		}
		s.marks = s.of.named(s.insert)
		if s.stamps {
			s.marks = append(s.marks, column{"[timestamp]", "bigint"})
		}
		for _, k := range s.of.keys {
			if !slices.Contains(s.insert, k) {
				invalid("Some primary key parts are missing: " + k)
			}
		}
		return s
	}
	m := selects.FindStringSubmatch(text)
	if m == nil {
		panic(fault{errSyntax, "line 1:0 no viable alternative at input '" + text[:min(len(text), 40)] + "'", nil})
	}
	if strings.HasPrefix(strings.ToLower(m[2]), "system") {
		s.of = system(full(m[2], m[3]))
	} else {
		s.of = find(m[2], m[3])
		for _, c := range strings.Split(m[4], " AND ") {
			if e := equals.FindStringSubmatch(strings.TrimSpace(c)); e != nil {
				s.where = append(s.where, e[1])
			} else if c != "" {
				panic(fault{errSyntax, "line 1:0 no viable alternative at " + c, nil})
			}
		}
	}
	s.marks = s.of.named(s.where)
	if s.shows = words(m[1]); m[1] == "*" {
		s.shows = nil
		for _, c := range s.of.columns {
			s.shows = append(s.shows, c.name)
		}
	}
	s.of.named(s.shows)
	return s
}

func created(name, columns string, partition, clustering []string) *table {
	t := &table{name: name, partition: partition, rows: map[string]*row{}}
	if !strings.HasPrefix(name, "load.") {
		invalid("Keyspace '" + strings.Split(name, ".")[0] + "' doesn't exist")
	}
	for _, c := range words(columns) {
		w := strings.Fields(c)
		if len(w) != 2 || types[w[1]].id == 0 {
			panic(fault{errSyntax, "no such column: " + c, nil})
		}
		t.columns = append(t.columns, column{w[0], w[1]})
	}
	t.keys = append(slices.Clone(partition), clustering...)
	t.named(t.keys)
	return t
}

// named are columns by their names.
func (t *table) named(names []string) (all []column) {
	for _, name := range names {
		at := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
		if at < 0 {
			invalid("Undefined column name " + name)
		}
		all = append(all, t.columns[at])
	}
	return all
}

// system is a table of the node itself.
func system(name string) *table {
	t := &table{name: name, rows: map[string]*row{}, columns: []column{
		{"key", "text"}, {"cluster_name", "text"}, {"data_center", "text"}, {"rack", "text"}, {"release_version", "text"}, {"partitioner", "text"},
		{"host_id", "uuid"}, {"schema_version", "uuid"}, {"rpc_address", "inet"}, {"broadcast_address", "inet"}, {"listen_address", "inet"},
	}, keys: []string{"key"}}
	if name == "system.local" {
		here := cell{value: net.IPv4(127, 0, 0, 1).To4()}
		id := cell{value: bytes.Repeat([]byte{7}, 16)}
		word := func(s string) cell { return cell{value: []byte(s)} }
		t.rows["local"] = &row{map[string]cell{
			"key": word("local"), "cluster_name": word("double"), "data_center": word("dc1"), "rack": word("r1"), "release_version": word("4.1.0"), "partitioner": word("org.apache.cassandra.dht.Murmur3Partitioner"),
			"host_id": id, "schema_version": id, "rpc_address": here, "broadcast_address": here, "listen_address": here,
		}}
	}
	return t
}

func (n *node) prepare(text_ string) []byte {
	s := n.parse(text_)
	sum := md5.Sum([]byte(s.text))
	n.prepared[string(sum[:])] = s
	out := append(binary.BigEndian.AppendUint16(number(nil, 4), 16), sum[:]...)
	var at []byte
	count := 0
	if s.of != nil {
		for _, k := range s.of.partition {
			if i := slices.IndexFunc(s.marks, func(c column) bool { return c.name == k }); i >= 0 {
				at, count = binary.BigEndian.AppendUint16(at, uint16(i)), count+1
			}
		}
	}
	if s.of == nil || count < len(s.of.partition) {
		at, count = nil, 0
	}
	out = append(number(number(number(out, 1), len(s.marks)), count), at...)
	out = s.names(out, s.marks)
	if s.shows == nil {
		return number(number(out, 4), 0)
	}
	shown := s.of.named(s.shows)
	return s.names(number(number(out, 1), len(shown)), shown)
}

// names describes columns of one table.
func (s *statement) names(out []byte, all []column) []byte {
	keyspace, name := "load", "none"
	if s.of != nil {
		keyspace, name, _ = strings.Cut(s.of.name, ".")
	}
	out = text(text(out, keyspace), name)
	for _, c := range all {
		out = binary.BigEndian.AppendUint16(text(out, c.name), uint16(types[c.of].id))
	}
	return out
}

// run runs a statement with the parameters that a frame has.
func (n *node) run(s *statement, r *in) []byte {
	level, flags := r.short(), r.byte()
	if level < 1 || level > 10 {
		panic(fault{errProtocol, "Unknown code for a consistency level", nil})
	}
	var values [][]byte
	var set []bool
	if flags&0x01 != 0 {
		for range r.short() {
			v, given := r.value()
			values, set = append(values, v), append(set, given)
		}
	}
	page, from := 0, 0
	if flags&0x04 != 0 {
		page = r.int()
	}
	if flags&0x08 != 0 {
		state, _ := r.value()
		from, _ = strconv.Atoi(string(state))
	}
	if len(values) != len(s.marks) {
		invalid("there were " + strconv.Itoa(len(s.marks)) + " markers(?) in CQL but " + strconv.Itoa(len(values)) + " bound variables")
	}
	for i, c := range s.marks {
		check(c, values[i])
	}
	switch {
	case s.create != nil:
		if n.tables[s.create.name] == nil {
			n.tables[s.create.name] = s.create
		}
		keyspace, name, _ := strings.Cut(s.create.name, ".")
		return text(text(text(text(number(nil, 5), "CREATED"), "TABLE"), keyspace), name)
	case s.insert != nil:
		s.of.write(s, values, set)
		return number(nil, 1)
	}
	return s.read(values, page, from)
}

// check is what a node demands of a value.
func check(c column, v []byte) {
	if size := types[c.of].size; v != nil && size > 0 && len(v) != size {
		invalid("Expected " + strconv.Itoa(size) + " byte value for " + c.name + " (" + strconv.Itoa(len(v)) + ")")
	}
	if c.of == "text" && !utf8.Valid(v) {
		invalid("String didn't validate.")
	}
}

func (t *table) write(s *statement, values [][]byte, set []bool) {
	at := time.Now().UnixMicro()
	if s.stamps {
		if at = int64(binary.BigEndian.Uint64(values[len(values)-1])); at < 0 {
			invalid("The write time is negative")
		}
	}
	var key []byte
	for _, k := range t.keys {
		i := slices.Index(s.insert, k)
		switch {
		case values[i] == nil || !set[i]:
			invalid("Invalid null value in condition for column " + k)
		case len(values[i]) > 65535:
			invalid("Key length of " + strconv.Itoa(len(values[i])) + " is longer than maximum of 65535")
		}
		key = value(key, values[i])
	}
	r := t.rows[string(key)]
	if r == nil {
		r = &row{map[string]cell{}}
		t.rows[string(key)] = r
	}
	for i, name := range s.insert {
		was, there := r.cells[name]
		if set[i] && (!there || at > was.at || at == was.at && bytes.Compare(values[i], was.value) > 0) {
			r.cells[name] = cell{values[i], at}
		}
	}
}

// read answers a page, in the order of keys.
func (s *statement) read(values [][]byte, page, from int) []byte {
	for _, k := range s.of.partition {
		if len(s.where) > 0 && !slices.Contains(s.where, k) {
			invalid("Cannot execute this query as it might involve data filtering and thus may have unpredictable performance.")
		}
	}
	var found []*row
	for _, key := range slices.Sorted(maps.Keys(s.of.rows)) {
		r, matches := s.of.rows[key], true
		for i, name := range s.where {
			matches = matches && bytes.Equal(r.cells[name].value, values[i])
		}
		if matches {
			found = append(found, r)
		}
	}
	found = found[min(from, len(found)):]
	more := page > 0 && len(found) > page
	shown := s.of.named(s.shows)
	out := number(nil, 2)
	if more {
		out = value(number(number(out, 3), len(shown)), []byte(strconv.Itoa(from+page)))
		found = found[:page]
	} else {
		out = number(number(out, 1), len(shown))
	}
	out = number(s.names(out, shown), len(found))
	for _, r := range found {
		for _, c := range shown {
			out = value(out, r.cells[c.name].value)
		}
	}
	return out
}
