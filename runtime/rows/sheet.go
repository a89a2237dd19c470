package rows

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/workflow/feed"
)

// chunk is how much of a file is read, and digested, at once.
const chunk = 1 << 20

// Sheet is a file in sealed memory: rows, or the bytes of a file that is read whole.
type Sheet struct {
	file *os.File
	name message.FeedFile
}

// Read reads a file of rows into sealed memory, with its description for a program: see Name.
func Read(folder, path string, json bool) (*Sheet, error) {
	return read(folder, path, message.FeedFile{JSON: json})
}

// ReadWhole reads a file that is no table.
func ReadWhole(folder, path string) (*Sheet, error) {
	return read(folder, path, message.FeedFile{Whole: true})
}

func read(folder, path string, name message.FeedFile) (*Sheet, error) {
	f, size, err := open(folder, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readFrom(f, size, name)
}

// readFrom reads a file that is open.
func readFrom(f *os.File, size uint64, name message.FeedFile) (*Sheet, error) {
	s := &Sheet{name: name}
	s.name.Bytes = size
	if err := s.fill(f); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return s, nil
}

func open(folder, path string) (*os.File, uint64, error) {
	f, info, err := Open(folder, path)
	if err != nil {
		return nil, 0, err
	}
	if info.Size() == 0 {
		_ = f.Close() // nothing was written
		return nil, 0, fmt.Errorf("%s is empty", f.Name())
	}
	return f, uint64(info.Size()), nil
}

// Describe is a program's description of a file that is read whole, without its memory: the
// caller provides the path.
func Describe(folder, path string) (name message.FeedFile, err error) {
	f, size, err := open(folder, path)
	if err != nil {
		return name, err
	}
	defer f.Close()
	name = message.FeedFile{Bytes: size, Whole: true}
	digest := sha256.New()
	n, err := io.Copy(digest, f)
	if err == nil && uint64(n) != size {
		err = errors.New("its size changed while it was read")
	}
	if err != nil {
		return name, fmt.Errorf("%s: %w", f.Name(), err)
	}
	digest.Sum(name.Digest[:0])
	return name, nil
}

// fill copies a file into memory, marks its rows, and seals it.
func (s *Sheet) fill(from io.Reader) (err error) {
	if s.file, err = memory(); err != nil {
		return fmt.Errorf("make a memory file: %w", err)
	}
	defer func() {
		if err != nil {
			s.file.Close()
		}
	}()
	size := int(s.name.Bytes)
	if err := s.file.Truncate(int64(size)); err != nil {
		return fmt.Errorf("make room in memory for %d bytes: %w", size, err)
	}
	data, err := unix.Mmap(int(s.file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %d bytes: %w", size, err)
	}
	table, err := s.take(from, data)
	if err == nil && table != nil {
		err = s.mark(table)
	}
	if unmapped := unix.Munmap(data); err == nil && unmapped != nil { // writable memory cannot be sealed
		err = fmt.Errorf("unmap: %w", unmapped)
	}
	if err != nil {
		return err
	}
	if err := seal(s.file); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	return nil
}

// take reads and digests the file, and looks that it is a table; nil: it need not be one.
func (s *Sheet) take(from io.Reader, data []byte) (*feed.Table, error) {
	digest := sha256.New()
	for at := 0; at < len(data); {
		part := data[at:min(at+chunk, len(data))]
		if _, err := io.ReadFull(from, part); err != nil {
			return nil, fmt.Errorf("it became shorter while it was read: %w", err)
		}
		digest.Write(part)
		at += len(part)
	}
	var one [1]byte
	if n, _ := from.Read(one[:]); n > 0 {
		return nil, errors.New("it became longer while it was read")
	}
	digest.Sum(s.name.Digest[:0])
	if s.name.Whole {
		return nil, nil
	}
	table, err := feed.Scan(format(s.name.JSON), data)
	if err != nil {
		return nil, err
	}
	s.name.Rows, s.name.Columns = table.Rows, table.Columns
	return table, nil
}

// mark writes where rows begin behind the data, on a boundary of 8 bytes.
func (s *Sheet) mark(table *feed.Table) error {
	marks := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(table.Marks))), 8*len(table.Marks))
	if _, err := s.file.WriteAt(marks, int64(aligned(s.name.Bytes))); err != nil {
		return fmt.Errorf("keep the marks of %d rows: %w", table.Rows, err)
	}
	return nil
}

func format(json bool) feed.Format {
	if json {
		return feed.JSON
	}
	return feed.CSV
}

func aligned(n uint64) uint64 { return (n + 7) &^ 7 }

// Name returns a program's description of the file; the caller provides the path.
func (s *Sheet) Name(path string) message.FeedFile {
	n := s.name
	n.Name = path
	return n
}

// File is the sealed memory, for a process that maps it.
func (s *Sheet) File() *os.File { return s.file }

// Close releases it; processes that have mapped it keep it.
func (s *Sheet) Close() error { return s.file.Close() }

// Map is a table in sealed memory, for as long as the process lives. All of it is
// mapped at once: no iteration waits for a page.
func Map(fd int, name *message.FeedFile) (*feed.Table, error) {
	from, marks := aligned(name.Bytes), (name.Rows+feed.MarkEvery-1)/feed.MarkEvery
	data, err := mapped(fd, name, from+8*marks)
	if err != nil {
		return nil, err
	}
	places := unsafe.Slice((*uint64)(unsafe.Pointer(&data[from])), marks)
	return feed.Open(format(name.JSON), name.Columns, name.Rows, places, data[:name.Bytes:name.Bytes]), nil
}

// MapWhole is the bytes of a file that is read whole, as Map.
func MapWhole(fd int, name *message.FeedFile) ([]byte, error) { return mapped(fd, name, name.Bytes) }

// mapped maps sealed memory of a size.
func mapped(fd int, name *message.FeedFile, all uint64) ([]byte, error) {
	if !sealed(fd) {
		return nil, fmt.Errorf("%s: its memory is not sealed", noun(name))
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || uint64(info.Size) != all {
		return nil, fmt.Errorf("%s: its memory has %d bytes, want %d", noun(name), info.Size, all)
	}
	data, err := unix.Mmap(fd, 0, int(all), unix.PROT_READ, unix.MAP_SHARED|populate)
	if err != nil {
		return nil, fmt.Errorf("%s: map %d bytes: %w", noun(name), all, err)
	}
	return data, nil
}

// noun names a file as its program does.
func noun(name *message.FeedFile) string {
	if name.Whole {
		return fmt.Sprintf("file %q", name.Name)
	}
	return fmt.Sprintf("feed %q", name.Name)
}
