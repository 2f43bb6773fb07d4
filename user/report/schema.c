/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Makes a JSON Schema (draft 2020-12) from the rows of members.tsv, whose head explains them. Only
 * the objects and types that the printed object needs are in "$defs".
 */
#include "report/report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/text.h"

#define OPTIONAL "optional "
#define NAMED "type "

struct schema {
	struct json_out *j;
	bool *used; /* by row: the object or type is printed in $defs; owned */
};

/* A part of the text of a type. */
struct schema_type {
	const char *at;
	size_t n;
};

static bool row_is_head(const struct schema_row *r)
{
	return !strcmp(r->type, "object") || text_begins(r->type, NAMED);
}

static bool row_is_optional(const struct schema_row *r)
{
	return text_begins(r->type, OPTIONAL);
}

/* True if the row inserts the members of another object. */
static bool row_is_members(const struct schema_row *r)
{
	return !strcmp(r->type, "members");
}

/* Returns the row's text. The text " means that of the row above. */
static const char *row_text(const struct schema_row *r)
{
	while (!strcmp(r->text, "\"") && r > schema_rows)
		r--;
	return r->text;
}

static struct schema_type row_type(const struct schema_row *r)
{
	const char *at = r->type;

	at += text_begins(at, OPTIONAL) ? strlen(OPTIONAL) :
	      text_begins(at, NAMED)	? strlen(NAMED) :
					  0;
	return (struct schema_type){at, strlen(at)};
}

/* Returns the head of the object or type with this name. */
static const struct schema_row *head_find(const char *name, size_t n)
{
	for (const struct schema_row *r = schema_rows; r->name; r++)
		if (row_is_head(r) && strlen(r->name) == n && !memcmp(r->name, name, n))
			return r;
	die("bug: members.tsv has no object or type %.*s", (int)n, name);
}

/* Types of JSON. NULL: it is another type. */
static const char *simple_type(struct schema_type t)
{
	static const char *const names[][2] = {
		{"count", "integer"}, {"int", "integer"},  {"real", "number"},
		{"text", "string"},   {"bool", "boolean"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i][0]) == t.n && !memcmp(names[i][0], t.at, t.n))
			return names[i][1];
	return NULL;
}

/* Removes the mark of a type whose values may be null. */
static bool type_take_null(struct schema_type *t)
{
	bool null = t->n && t->at[t->n - 1] == '?';

	t->n -= null;
	return null;
}

/* The type of an array's elements, or of the members of an object whose keys are data. */
static struct schema_type type_inner(struct schema_type t)
{
	return (struct schema_type){t.at + 1, t.n - 2};
}

static bool type_is_words(struct schema_type t)
{
	return memchr(t.at, '|', t.n);
}

/* ---- which objects are needed ---- */

static void head_use(struct schema *s, const struct schema_row *head);

static void type_use(struct schema *s, struct schema_type t)
{
	type_take_null(&t);
	if (*t.at == '[' || *t.at == '{')
		type_use(s, type_inner(t));
	else if (*t.at != '=' && !type_is_words(t) && !simple_type(t))
		head_use(s, head_find(t.at, t.n));
}

static void members_use(struct schema *s, const struct schema_row *head)
{
	for (const struct schema_row *r = head + 1; r->name && !row_is_head(r); r++) {
		if (row_is_members(r))
			members_use(s, head_find(r->name, strlen(r->name)));
		else
			type_use(s, row_type(r));
	}
}

static void head_use(struct schema *s, const struct schema_row *head)
{
	if (s->used[head - schema_rows])
		return;
	s->used[head - schema_rows] = true;
	members_use(s, head);
}

/* ---- printing ---- */

static void type_name_print(struct json_out *j, const char *name, bool null)
{
	if (!null) {
		json_out_key_string(j, "type", name);
		return;
	}
	json_out_key_array(j, "type");
	json_out_string(j, name);
	json_out_string(j, "null");
	json_out_array_end(j);
}

static void words_print(struct json_out *j, struct schema_type t, bool null)
{
	const char *end = t.at + t.n, *bar;

	type_name_print(j, "string", null);
	json_out_key_array(j, "enum");
	for (const char *at = t.at; at < end; at = bar + 1) {
		bar = memchr(at, '|', (size_t)(end - at)) ?: end;
		json_out_string_n(j, at, (size_t)(bar - at));
	}
	if (null)
		json_out_null(j);
	json_out_array_end(j);
}

static void ref_print(struct json_out *j, struct schema_type t, bool null)
{
	char *ref = xasprintf("#/$defs/%.*s", (int)t.n, t.at);

	if (null) {
		json_out_key_array(j, "anyOf");
		json_out_object_begin(j);
	}
	json_out_key_string(j, "$ref", ref);
	if (null) {
		json_out_object_end(j);
		json_out_object_begin(j);
		json_out_key_string(j, "type", "null");
		json_out_object_end(j);
		json_out_array_end(j);
	}
	free(ref);
}

/* Writes members of the open object that describe the type. */
static void type_print(struct json_out *j, struct schema_type t)
{
	bool null = type_take_null(&t), list = *t.at == '[';
	const char *simple = simple_type(t);

	if (list || *t.at == '{') {
		type_name_print(j, list ? "array" : "object", null);
		json_out_key_object(j, list ? "items" : "additionalProperties");
		type_print(j, type_inner(t));
		json_out_object_end(j);
	} else if (*t.at == '=') {
		json_out_key_int(j, "const", atoi(t.at + 1));
	} else if (type_is_words(t)) {
		words_print(j, t, null);
	} else if (simple) {
		type_name_print(j, simple, null);
		if (*t.at == 'c')
			json_out_key_int(j, "minimum", 0);
	} else {
		ref_print(j, t, null);
	}
}

static void members_print(struct json_out *j, const struct schema_row *head)
{
	for (const struct schema_row *r = head + 1; r->name && !row_is_head(r); r++) {
		if (row_is_members(r)) {
			members_print(j, head_find(r->name, strlen(r->name)));
			continue;
		}
		json_out_key_object(j, r->name);
		type_print(j, row_type(r));
		json_out_key_string(j, "description", row_text(r));
		json_out_object_end(j);
	}
}

static void required_print(struct json_out *j, const struct schema_row *head)
{
	for (const struct schema_row *r = head + 1; r->name && !row_is_head(r); r++) {
		if (row_is_members(r))
			required_print(j, head_find(r->name, strlen(r->name)));
		else if (!row_is_optional(r))
			json_out_string(j, r->name);
	}
}

static void head_print(struct json_out *j, const struct schema_row *head)
{
	json_out_key_object(j, head->name);
	json_out_key_string(j, "description", row_text(head));
	if (text_begins(head->type, NAMED)) {
		type_print(j, row_type(head));
	} else {
		json_out_key_string(j, "type", "object");
		json_out_key_object(j, "properties");
		members_print(j, head);
		json_out_object_end(j);
		json_out_key_array(j, "required");
		required_print(j, head);
		json_out_array_end(j);
		json_out_key_bool(j, "additionalProperties", false);
	}
	json_out_object_end(j);
}

int schema_print(const char *object, FILE *out)
{
	const struct schema_row *head = head_find(object, strlen(object)), *r = head;
	struct schema s = {.j = json_out_new(out, JSON_OUT_PRETTY)};
	int err;

	while (r->name)
		r++;
	s.used = xcalloc((size_t)(r - schema_rows), sizeof(*s.used));
	head_use(&s, head);
	json_out_object_begin(s.j);
	json_out_key_string(s.j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_out_key_string(s.j, "title", head->text);
	json_out_key_string(s.j, "description",
			    "Times are nanoseconds (_ns); null means unknown. Pages that texts "
			    "name are in kmod-docs/.");
	ref_print(s.j, (struct schema_type){head->name, strlen(head->name)}, false);
	json_out_key_object(s.j, "$defs");
	for (r = schema_rows; r->name; r++)
		if (s.used[r - schema_rows])
			head_print(s.j, r);
	json_out_object_end(s.j);
	json_out_object_end(s.j);
	free(s.used);
	err = json_out_finish(s.j);
	if (err)
		log_error("cannot write the schema: %s", log_unwritten(-err));
	return err;
}
