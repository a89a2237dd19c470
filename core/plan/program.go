package plan

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"hyperscale/core/message"
)

// CheckProgram reports the files and values of a program that no cluster could carry.
func CheckProgram(p *message.Program) []Fault {
	c := &check{}
	c.most("program.files", uint64(len(p.Files)+len(p.Feeds)), FilesMax, "put some of them together, or let file.glob take fewer")
	bytes := 0
	for i := range p.Files {
		bytes += len(p.Files[i].Data)
		c.text(fmt.Sprintf("program.files[%d].name", i), p.Files[i].Name, 1, PathMax, "give it a shorter name")
	}
	if bytes > FileBytesMax {
		c.add("bytes of program.files", size(bytes), "be at most "+size(FileBytesMax), "keep data out of the files: feed.csv, feed.json and file read larger ones where they lie")
	}
	if !slices.ContainsFunc(p.Files, func(f message.File) bool { return f.Name == p.Main }) {
		c.add("program.main", quoted(p.Main), "be one of its files", "add the file")
	}
	c.most("program.params", uint64(len(p.Params)), ParamsMax, "set fewer")
	c.feeds(p.Feeds)
	c.secrets(p.Secrets)
	if bytes := (&message.JobSubmit{Program: *p}).Size(); bytes > ProgramMax {
		c.add("program", size(bytes), "be at most "+size(ProgramMax), "shorten its params, its files' names and its feeds' columns, or let file.glob take fewer files")
	}
	return c.faults
}

// secrets checks the values of secrets. No fault has one.
func (c *check) secrets(all []message.Secret) {
	c.most("program.secrets", uint64(len(all)), SecretsMax, "declare fewer")
	for i := range all[:min(len(all), SecretsMax)] {
		c.name(fmt.Sprintf("program.secrets[%d].name", i), all[i].Name)
		if n := len(all[i].Value); n < SecretMin || n > SecretMax || !utf8.ValidString(string(all[i].Value)) {
			c.add(fmt.Sprintf("program.secrets[%d].value", i), fmt.Sprintf("%d bytes", n), fmt.Sprintf("be UTF-8 of %d to %d bytes", SecretMin, SecretMax), "outputs could not hide a shorter one")
		}
	}
}

// feeds checks the files that do not travel with a program.
func (c *check) feeds(files []message.FeedFile) {
	c.most("program.feeds", uint64(len(files)), FeedsMax, "put some of them together, or let file.glob take fewer")
	bytes := uint64(0)
	for i := range files[:min(len(files), FeedsMax)] {
		f := &files[i]
		bytes = min(bytes+min(f.Bytes, FeedBytesMax), FeedBytesMax+1)
		c.feedFile(f, func(name string) string { return fmt.Sprintf("program.feeds[%d].%s", i, name) })
	}
	if bytes > FeedBytesMax {
		c.add("bytes of program.feeds", "more than 1 TiB", "be at most 1 TiB", "submit several jobs, each with some of the files")
	}
}

// feedFile checks one of them. A file that is read whole has bytes alone.
func (c *check) feedFile(f *message.FeedFile, key func(string) string) {
	c.text(key("name"), f.Name, 1, PathMax, "give it a shorter name")
	if f.Bytes == 0 || f.Bytes > FeedBytesMax {
		c.add(key("bytes"), fmt.Sprint(f.Bytes), fmt.Sprintf("be 1 to %d", uint64(FeedBytesMax)), "split the file")
	}
	if f.Whole {
		if f.Rows != 0 || len(f.Columns) != 0 || f.JSON {
			c.add(key("whole"), "True", "go without rows and columns", "submit it as a feed, or as a file without rows")
		}
		return
	}
	if f.Rows == 0 || f.Rows > RowsMax {
		c.add(key("rows"), fmt.Sprint(f.Rows), fmt.Sprintf("be 1 to %d", uint64(RowsMax)), "split the file")
	}
	if n := len(f.Columns); n == 0 || n > ColumnsMax {
		c.add(key("columns"), fmt.Sprint(n), fmt.Sprintf("be 1 to %d", ColumnsMax), "split the file")
	}
	for k, name := range f.Columns[:min(len(f.Columns), ColumnsMax)] {
		c.text(fmt.Sprintf("%s[%d]", key("columns"), k), name, 1, ColumnMax, "rename the column")
	}
}
