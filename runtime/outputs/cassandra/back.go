package cassandra

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"hyperscale/runtime/outputs"
)

const (
	readMax  = time.Minute // to read a job back
	readPage = 50          // rows of a page
	readAll  = 256 << 20   // bytes of a job in memory

	valueSize = 24 // of a value without its bytes
)

// readBack reads the rows of a job, day by day.
func readBack(s *outputs.Settings, job string) ([]outputs.Row, error) {
	at, err := serverOf(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readMax)
	defer cancel()
	to := &sink{server: *at}
	defer to.Close()
	if fail := to.connect(ctx); fail != nil {
		return nil, errors.New(fail.why)
	}
	defer to.conn.bound(ctx)()
	days, err := to.read("SELECT day FROM "+to.days+" WHERE job = ?", text(job))
	if err != nil {
		return nil, err
	}
	var rows []outputs.Row
	for _, d := range days {
		if len(d) != 4 {
			return nil, fmt.Errorf("a day is %x", d)
		}
		lines, err := to.read("SELECT row FROM "+to.rows+" WHERE job = ? AND day = ?", text(job), day(binary.BigEndian.Uint32(d)))
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			r, err := outputs.ParseJSON(line)
			if err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// read returns the values of one column.
func (s *sink) read(statement string, values ...[]byte) (all [][]byte, err error) {
	level := s.level
	if level == levels["EACH_QUORUM"] {
		level = levels["LOCAL_QUORUM"] // it is of writes alone
	}
	q, size := query{level: level, values: values, page: readPage}, 0
	for {
		f, fail := s.conn.run(statement, q)
		if fail != nil {
			return nil, errors.New(fail.why)
		}
		page, next, err := rowsOf(f.body)
		if err != nil {
			return nil, err
		}
		for _, v := range page {
			size += len(v) + valueSize
		}
		if size > readAll {
			return nil, fmt.Errorf("the job has more than %d bytes of rows", readAll)
		}
		if all = append(all, page...); next == nil {
			return all, nil
		}
		q.paging = next
	}
}
