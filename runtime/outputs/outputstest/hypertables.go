package outputstest

// Hypertables are statements that give a PostgreSQL what an output needs of TimescaleDB: create_hypertable, in a schema of its
// own, with the demands of the extension. It records what became a hypertable in "Time".hypertables.
func Hypertables() []string {
	return []string{
		`create schema "Time"`, `grant usage on schema "Time" to public`, `create table "Time".hypertables (of regclass primary key, by name)`,
		`create function "Time".create_hypertable(relation regclass, time_column_name name, if_not_exists boolean default false) returns text language plpgsql security definer as $$
		declare bad text;
		begin
			if exists (select from "Time".hypertables where of = relation) then
				if if_not_exists then return 'it is one'; end if;
				raise exception 'table "%" is already a hypertable', relation using errcode = 'TS110';
			end if;
			select i.indexrelid::regclass into bad from pg_index i where i.indrelid = relation and i.indisunique
				and not exists (select from pg_attribute a where a.attrelid = relation and a.attnum = any (i.indkey) and a.attname = time_column_name);
			if bad is not null then
				raise exception 'cannot create a unique index without the column "%" (used in partitioning)', time_column_name using errcode = 'TS103';
			end if;
			insert into "Time".hypertables values (relation, time_column_name);
			return 'it becomes one';
		end $$`,
	}
}
