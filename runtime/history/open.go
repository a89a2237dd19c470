package history

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors that callers branch on.
var (
	ErrForeign = errors.New("it is no history of hyperscale: name another file")
	ErrNewer   = errors.New("a newer version of hyperscale wrote it: use that version, or name another file")
	ErrDamaged = errors.New("it is damaged: move it away, and the next run begins a new one")
	ErrBusy    = errors.New("another process has held it for 5s: try again")
)

// Bounds say how much a history keeps.
type Bounds struct {
	Runs  int   // of all names
	Bytes int64 // of the file, without its free pages
}

// DefaultBounds are those of the manual: three years of a run a day, and a file that a laptop
// does not notice.
func DefaultBounds() Bounds { return Bounds{Runs: 1000, Bytes: 500 << 20} }

// Store is an open history. Other processes may have it open, too.
type Store struct {
	db     *sql.DB
	base   base
	file   string // or the address of a database, without a password
	key    []byte // of digests: two files do not have the same
	bounds Bounds
}

// DefaultFile is where a history is if nothing else is said.
func DefaultFile() (string, error) {
	dir := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(dir) { // the specification: a relative one counts as unset
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no home for it: set XDG_DATA_HOME, or HYPERSCALE_HISTORY to a file or off: %w", err)
		}
		dir = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(dir, "hyperscale", "history.db"), nil
}

// Open opens a history, and makes it if there is none: a file with its folder, which its owner alone may read, or tables in
// the database postgres://USER@HOST/DATABASE[,password_file=FILE].
func Open(at string) (*Store, error) {
	open := openFile
	if IsDatabase(at) {
		open = openTeam
	}
	s, err := open(at)
	if err != nil {
		return nil, fmt.Errorf("open history %s: %w", place(at), err)
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(s.failed("open", err), s.db.Close())
	}
	return s, nil
}

func openFile(file string) (*Store, error) {
	whole, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(whole), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(whole, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	// An immediate transaction waits for another process's before it reads, so none reads what is old.
	at := url.URL{Scheme: "file", Path: whole, RawQuery: "_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &Store{db: db, base: ownFile, file: file, bounds: DefaultBounds()}, nil
}

// Close gives the file back.
func (s *Store) Close() error { return s.db.Close() }

// begin reads the schema's version, or makes the tables.
func (s *Store) begin() error {
	known, err := s.known()
	if err != nil || known {
		return err
	}
	if s.base.vacuum != "" {
		// Only an empty file takes it: pages of deleted runs then go back to the system.
		if _, err := s.db.Exec("PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	return s.within(func(tx *sql.Tx) error {
		var tables int
		if err := tx.QueryRow(s.base.tables).Scan(&tables); err != nil || tables > 0 {
			return err // another process was faster
		}
		s.key = make([]byte, 32)
		_, _ = rand.Read(s.key) // it never fails
		for _, one := range s.base.schema {
			if _, err := tx.Exec(one); err != nil {
				return err
			}
		}
		_, err := tx.Exec("INSERT INTO hyperscale_schema VALUES (?, ?)", schemaVersion, s.key)
		return err
	}, s.known)
}

// known reads the version and the key of a history that has tables.
func (s *Store) known() (bool, error) {
	var tables, id int
	if err := s.db.QueryRow(s.base.tables).Scan(&tables); err != nil || tables == 0 {
		return false, err
	}
	if s.base.marked != "" {
		if err := s.db.QueryRow(s.base.marked).Scan(&id); err != nil {
			return false, err
		}
		if id != applicationID {
			return false, ErrForeign
		}
	}
	var version int
	if err := s.db.QueryRow("SELECT version, digest_key FROM hyperscale_schema").Scan(&version, &s.key); err != nil {
		return false, err
	}
	var err error
	if s.key, err = s.base.bytes(s.key); err != nil {
		return false, err
	}
	if version > schemaVersion {
		return false, fmt.Errorf("its schema is %d, and this version knows %d: %w", version, schemaVersion, ErrNewer)
	}
	return true, nil
}

// within runs a transaction whole, then what reads its outcome.
func (s *Store) within(do func(*sql.Tx) error, then ...func() (bool, error)) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	if s.base.lock != "" {
		if _, err := tx.Exec(s.base.lock); err != nil {
			_ = tx.Rollback() // the first error says why
			return err
		}
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // the first error says why
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, f := range then {
		if _, err := f(); err != nil {
			return err
		}
	}
	return nil
}

// failed names the file and the remedy.
func (s *Store) failed(what string, err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB:
			err = fmt.Errorf("%w: %w", ErrForeign, err)
		case sqlite3.SQLITE_CORRUPT:
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		case sqlite3.SQLITE_BUSY:
			err = fmt.Errorf("%w: %w", ErrBusy, err)
		}
	}
	return fmt.Errorf("%s history %s: %w", what, s.file, err)
}
